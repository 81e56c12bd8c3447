#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "analysis/what_if.h"
#include "cli/output.h"
#include "cli/value_checks.h"
#include "cli/verbs.h"
#include "exporters/whatif/whatif.h"
#include "model/error.h"
#include "orchestrator/config/config.h"
#include "orchestrator/import.h"
#include "orchestrator/process/activity.h"
#include "orchestrator/process/interrupts.h"
#include "runs/ledger/bundles.h"

namespace nl::cli {
namespace {

struct WhatIfFlags {
  std::string capture, stage, ledger;
  std::vector<std::string> sets, graphs, waits, functions, beside, kernels, fused;
  double host_speed = 1;
  bool pinned = false, json = false;
};

// "audit_tokens=0": what stands before the last sign, and a factor that is not negative.
std::pair<std::string, double> scaled(const std::string& text, const char* flag) {
  const auto equals = text.rfind('=');
  try {
    if (equals != std::string::npos && equals > 0) {
      std::size_t read = 0;
      const double factor = std::stod(text.substr(equals + 1), &read);
      if (read == text.size() - equals - 1 && factor >= 0 && factor <= 1000) return {text.substr(0, equals), factor};
    }
  } catch (const std::logic_error&) {
  }
  throw Error(ErrorKind::kUsage, fmt::format("'{}' is not a name and a factor", text), flag, fmt::format("write {} NAME=0.5", flag));
}

std::vector<analysis::NamedChange> changes_of(const WhatIfFlags& flags) {
  std::vector<analysis::NamedChange> changes;
  for (const std::string& where : flags.waits) changes.push_back({"--without-wait " + where, analysis::WithoutWait{where}});
  for (const std::string& text : flags.functions) {
    const auto [name, factor] = scaled(text, "--host");
    changes.push_back({"--host " + text, analysis::FasterFunction{name, factor}});
  }
  for (const std::string& name : flags.beside) changes.push_back({"--async " + name, analysis::AsyncFunction{name}});
  for (const std::string& text : flags.kernels) {
    const auto [name, factor] = scaled(text, "--kernel");
    changes.push_back({"--kernel " + text, analysis::FasterKernels{name, factor}});
  }
  if (!flags.fused.empty()) changes.push_back({"--fuse elementwise", analysis::FusedElementwise{}});
  if (flags.pinned) changes.push_back({"--pinned", analysis::PinnedCopies{}});
  if (flags.host_speed != 1) changes.push_back({fmt::format("--host-speed {}", flags.host_speed), analysis::FasterHost{flags.host_speed}});
  for (const std::string& stage : flags.graphs) changes.push_back({"--graph " + stage, analysis::StageAsGraph{stage}});
  return changes;
}

int what_if(const WhatIfFlags& flags) {
  const std::vector<analysis::NamedChange> changes = changes_of(flags);
  const orchestrator::Interrupts interrupts;
  orchestrator::ImportRequest request;
  request.config = orchestrator::load_config({.model_file = "", .sets = flags.sets});
  orchestrator::add_input(runs::place_of(flags.capture, flags.ledger), request);
  orchestrator::ProcessLauncher launcher;
  WhatIf result;
  const orchestrator::Activity replaying("replaying " + flags.capture);
  orchestrator::with_evidence(request, launcher, [&](const Evidence& evidence, const analysis::Knowledge& knowledge) {
    result = analysis::what_if(evidence, knowledge, {flags.stage, changes});
  });
  if (flags.json) write_data(exporters::whatif_json(result));
  else write_text(is_terminal(stdout) ? exporters::whatif_text(result, line_width()) : exporters::whatif_markdown(result));
  return 0;
}

}  // namespace

void add_whatif(CLI::App& app, std::function<int()>& action) {
  auto flags = std::make_shared<WhatIfFlags>();
  CLI::App* verb = app.add_subcommand("whatif", "Predict what a change would bring, by a replay of the capture");
  verb->add_option("capture", flags->capture, "a bundle, a capture that import reads, or a name of the ledger")
      ->required()
      ->type_name("RUN");
  verb->add_option("--stage", flags->stage, "whose time is predicted; default: the unit of the program")->type_name("STAGE");
  const auto several = [&](const char* flag, std::vector<std::string>& to, const char* help, const char* type) {
    verb->add_option(flag, to, help)->allow_extra_args(false)->type_name(type);
  };
  several("--graph", flags->graphs, "the launches of this stage become CUDA graphs; repeatable", "STAGE");
  several("--without-wait", flags->waits, "these calls do not wait for the GPU; repeatable", "CALL|FILE:LINE");
  several("--host", flags->functions, "the time in a function of the program, of 1; repeatable", "FUNCTION=FACTOR");
  several("--async", flags->beside, "this function of the program runs beside its caller, on another thread; repeatable", "FUNCTION");
  several("--kernel", flags->kernels, "the time of kernels whose name contains this, of 1; repeatable", "NAME=FACTOR");
  verb->add_option("--fuse", flags->fused, "kernels of this kind that follow each other become one")
      ->allow_extra_args(false)
      ->type_name("KIND")
      ->check(CLI::IsMember({"elementwise"}));
  verb->add_flag("--pinned", flags->pinned, "copies between host and GPU use pinned memory");
  verb->add_option("--host-speed", flags->host_speed, "the host is so many times as fast")->type_name("TIMES")->check(between(0.01, 100.0));
  verb->add_option("--ledger", flags->ledger, "where names are looked up; default: $NL_STAGE_LEDGER, or the user's own")
      ->type_name("PATH|URL");
  verb->add_option("--set", flags->sets, "set one key of the configuration; repeatable")->allow_extra_args(false)->type_name("KEY=VALUE");
  verb->add_flag("--json", flags->json, "print {run, stage, replay_error, binds, unprofiled_ns, predictions, sequence}");
  verb->footer(
      "Changes that are given together are made together. Without any, all that apply are tried one by one, and the best sequence of "
      "three\n"
      "is named. A prediction is refused where the replay of the capture is off by more than 5 %, where the capture is not complete, or\n"
      "where it has nothing that the change is about. docs/whatif.md says how it is made, and how far off it was.\n"
      "Examples:\n"
      "  nl-stage whatif artifacts/runs/20250101-120000-llama-deep\n"
      "  nl-stage whatif last --graph decode_step\n"
      "  nl-stage whatif run.sqlite --without-wait cudaStreamSynchronize --host audit_tokens=0 --json");
  verb->callback([flags, &action] { action = [flags] { return what_if(*flags); }; });
}

}  // namespace nl::cli
