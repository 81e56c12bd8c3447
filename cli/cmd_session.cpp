#include <cstdlib>

#include "cli/output.h"
#include "cli/run_flags.h"
#include "cli/verbs.h"
#include "orchestrator/session/session.h"

namespace nl::cli {
namespace {

struct SessionVerbFlags : SessionFlags {
  std::string model, record;
  bool json = false;
};

int run(const SessionVerbFlags& flags) {
  const char* asked = std::getenv(orchestrator::kSessionRecordVariable);
  const std::string record = !flags.record.empty() ? flags.record : asked != nullptr ? asked : "";
  const orchestrator::Config config = orchestrator::load_config({.sets = session_sets(flags, flags.model)});
  const ModelSession session = orchestrator::run_session(config.session, record);
  write_answer(flags.json, (flags.json ? orchestrator::session_figures_json(session) : orchestrator::session_text(session)) + "\n");
  return 0;
}

}  // namespace

// The workload of `profile`; not listed, because it leaves no bundle.
void add_session(CLI::App& app, std::function<int()>& action) {
  auto flags = std::make_shared<SessionVerbFlags>();
  CLI::App* verb = app.add_subcommand("session", "Run a model file by a backend: what `profile` traces")->group("");
  verb->add_option("--model", flags->model, "the model file")->required()->type_name("FILE");
  add_session_flags(*verb, *flags);
  verb->get_option("--backend")->required();
  verb->add_option("--record", flags->record, "where every execution of an operator is written")->type_name("FILE");
  verb->add_flag("--json", flags->json, "print {backend, version, provider, iterations, unprofiled_ms, profiled_ms, slowdown, notes}");
  verb->footer(
      "Examples:\n"
      "  nl-stage session --backend onnxruntime --model model.onnx --batch 1\n"
      "  nl-stage session --backend onnxruntime --model model.onnx --batch 1 --record session.json");
  verb->callback([flags, &action] { action = [flags] { return run(*flags); }; });
}

}  // namespace nl::cli
