#include "cli/ledger_flags.h"
#include "cli/output.h"
#include "cli/verbs.h"
#include "exporters/report/compare/compare.h"
#include "orchestrator/nodes.h"
#include "runs/ledger/find_run.h"

namespace nl::cli {
namespace {

struct NodesFlags {
  std::string left, right, ledger;
  bool json = false;
};

int print_nodes(const NodesFlags& flags) {
  const NodeComparison comparison =
      orchestrator::compare_nodes(runs::named_run(flags.left, flags.ledger), runs::named_run(flags.right, flags.ledger));
  if (flags.json) write_data(exporters::nodes_json(comparison));
  else write_text(is_terminal(stdout) ? exporters::nodes_text(comparison, line_width()) : exporters::nodes_markdown(comparison));
  return 0;
}

}  // namespace

void add_nodes(CLI::App& app, std::function<int()>& action) {
  auto flags = std::make_shared<NodesFlags>();
  CLI::App* verb = app.add_subcommand("nodes", "Put two runs of one model side by side, node by node");
  verb->add_option("a", flags->left, kRunHelp)->required()->type_name("RUN");
  verb->add_option("b", flags->right, "the other run, of the same model")->required()->type_name("RUN");
  add_ledger_flag(*verb, flags->ledger);
  verb->add_flag("--json", flags->json, "print {a, b, pairs, only_a, only_b}");
  verb->footer(
      "Nodes are paired by their names, by what fusions hold, by types and shapes (of all inputs, then of the first), then by order; each "
      "row says how. What has no partner is listed.\n"
      "Times are GPU times where they are known, else host times.\n"
      "Examples:\n"
      "  nl-stage profile --backend onnxruntime --model m.onnx --batch 1 --out ort\n"
      "  nl-stage import --trtexec profile.json layers.json --out trt\n"
      "  nl-stage nodes ort trt\n"
      "  nl-stage nodes last~1 last");
  verb->callback([flags, &action] { action = [flags] { return print_nodes(*flags); }; });
}

}  // namespace nl::cli
