#include "cli/output.h"
#include "cli/print_result.h"
#include "cli/run_flags.h"
#include "cli/verbs.h"
#include "cli/workload_words.h"
#include "orchestrator/capture/plan.h"
#include "orchestrator/config/keys.h"
#include "orchestrator/machine/tools.h"
#include "orchestrator/run.h"
#include "runs/ledger/bundles.h"

// run, profile and plan: one configuration, executed or printed.
namespace nl::cli {
namespace {

// The flags of `run` and `profile`: those of `plan`, and how it is started.
struct RunVerbFlags : RunFlags {
  bool dry_run = false, quiet = false, verbose = false, json = false, keep_env = false;
};

void add_run_verb_flags(CLI::App& verb, RunVerbFlags& flags) {
  add_run_flags(verb, flags);
  verb.add_flag("--dry-run", flags.dry_run, "print the exact command of every pass; start none");
  CLI::Option* quiet = verb.add_flag("-q,--quiet", flags.quiet, "keep the workload's output in logs/ only");
  verb.add_flag("-v,--verbose", flags.verbose, "show the output of every pass, with what nsys and ncu say; logs/ has it in any case")
      ->excludes(quiet);
  verb.add_flag("--json", flags.json,
                "print the answer: {run_id, bundle, status, exit_status, ledger, summary, unit, budget, actions, findings, predictions, "
                "problems, files …}");
  verb.add_flag("--keep-env", flags.keep_env, "leave the workload's environment in the exported SQLite");
}

// For `plan` and `run --dry-run`.
int print_plan(const orchestrator::Config& config, const RunFlags& flags, bool json) {
  // The stamp is not known before the run; everything else is as it will be.
  const std::filesystem::path fresh =
      std::filesystem::path(config.artifacts.dir) / fmt::format("STAMP-{}-{}", config.run.name, config.run.mode);
  const std::filesystem::path bundle = flags.out.empty() ? fresh : std::filesystem::path(flags.out);
  const orchestrator::Plan plan = orchestrator::make_plan(config, orchestrator::find_tools(config.tools), bundle);
  write_answer(json, json ? orchestrator::plan_json(plan) : describe_plan(plan));
  return 0;
}

orchestrator::Echo echo_of(const RunVerbFlags& flags) {
  if (flags.verbose) return orchestrator::Echo::kEverything;
  return flags.quiet ? orchestrator::Echo::kNothing : orchestrator::Echo::kWorkload;
}

int run_verb(const RunVerbFlags& flags) {
  orchestrator::ConfigRequest request = config_request(flags);
  if (flags.keep_env) request.sets.push_back("artifacts.keep_env=true");
  const orchestrator::Config config = orchestrator::load_config(request);
  if (flags.dry_run) return print_plan(config, flags, flags.json);
  orchestrator::ProcessLauncher launcher;
  runs::LaterRecord later;
  orchestrator::RunRequest workload{config, flags.out, echo_of(flags), later.keep()};
  if (!flags.loads.empty()) workload.read_loads = [&] { return loads_in(flags.loads); };
  orchestrator::RunResult result = orchestrator::run_workload(workload, launcher);
  return print_result(std::move(result), flags.json, [&](const Run& run) { return later.record(run); });
}

struct PlanFlags : RunFlags {
  bool json = false, keys = false, markdown = false;
};

int print_keys(const PlanFlags& flags) {
  if (flags.json) write_data(orchestrator::config_keys_json());
  else write_text(flags.markdown ? orchestrator::config_reference_markdown() : orchestrator::config_keys_text());
  return 0;
}

int run_plan(const PlanFlags& flags) {
  return flags.keys ? print_keys(flags) : print_plan(orchestrator::load_config(config_request(flags)), flags, flags.json);
}

}  // namespace

void add_run(CLI::App& app, std::function<int()>& action) {
  auto flags = std::make_shared<RunVerbFlags>();
  CLI::App* verb = app.add_subcommand("run", "Profile a workload: trace it, then measure its top kernels; leaves one bundle");
  add_run_verb_flags(*verb, *flags);
  verb->add_option("--load", flags->loads, kLoadHelp)->allow_extra_args(false)->type_name("FILE");
  verb->footer(
      "The workload runs once under nsys and once or twice under ncu, each time with an empty standard input. Where one\n"
      "of them is missing, or with --config cupti, the collector traces and measures instead (CUPTI). A deep run repeats\n"
      "the workload, unprofiled and traced, to measure the profiling overhead (perturbation.*). The output of the workload\n"
      "goes to stderr. docs/exit-status.md lists the exit statuses.\n"
      "Examples:\n"
      "  nl-stage run --config deep python generate.py --model gpt2\n"
      "  nl-stage run --config cupti python generate.py --model gpt2\n"
      "  nl-stage run --config light --name smoke --set run.top_n_kernels=20 -- ./workload\n"
      "  nl-stage run --config deep --budget 3m python generate.py --model gpt2\n"
      "  nl-stage run --config deep --out bundle --json --quiet ./workload > result.json\n"
      "  nl-stage run --config deep --backend onnxruntime --model model.onnx --batch 1\n"
      "  nl-stage run --config deep --dry-run ./workload");
  verb->callback([flags, &action] { action = [flags] { return run_verb(*flags); }; });
}

void add_profile(CLI::App& app, std::function<int()>& action) {
  auto flags = std::make_shared<RunVerbFlags>();
  flags->config = "profile";
  CLI::App* verb = app.add_subcommand(
      "profile", "Run a model file by ONNX Runtime, LibTorch or TensorRT, operator by operator; leaves the bundle of `run`");
  add_run_verb_flags(*verb, *flags);
  verb->get_option("--backend")->required();
  verb->get_option("--model")->required();
  verb->remove_option(verb->get_option("command"));
  verb->footer(
      "The model is loaded, gets inputs of the shapes that it declares, and runs unprofiled and then profiled; every execution of an "
      "operator is\n"
      "recorded. nl-stage traces that as any other workload: with a GPU its kernels are joined to the operators. `nl-stage run --config "
      "deep --backend …`\n"
      "is the same with counters and repetitions. docs/adapters.md describes the backends.\n"
      "Examples:\n"
      "  nl-stage profile --backend onnxruntime --model model.onnx --batch 1 --seq 128\n"
      "  nl-stage profile --backend onnxruntime --model model.onnx --dim past=64 --inputs inputs.npz --iterations 50\n"
      "  nl-stage profile --backend libtorch --model model.pt --shape x=1x128x64:float32 --provider cuda --precision fp16\n"
      "  nl-stage run --config deep --backend libtorch --model model.pt --shape x=1x128x64:float32 --provider cuda");
  verb->callback([flags, &action] { action = [flags] { return run_verb(*flags); }; });
}

void add_plan(CLI::App& app, std::function<int()>& action) {
  auto flags = std::make_shared<PlanFlags>();
  CLI::App* verb = app.add_subcommand("plan", "Print the exact command of every pass; start none");
  add_run_flags(*verb, *flags);
  CLI::Option* json =
      verb->add_flag("--json", flags->json, "print JSON; with --keys {keys: [{key, help, type, allowed, least, most, default}]}");
  verb->add_flag("--keys", flags->keys, "list every configuration key instead");
  verb->add_flag("--markdown", flags->markdown, "with --keys: as the tables of docs/configuration.md")->needs("--keys")->excludes(json);
  verb->footer(
      "Examples:\n"
      "  nl-stage plan --config deep python generate.py --model gpt2\n"
      "  nl-stage plan --config light --set nsys.pytorch=autograd-shapes-nvtx --json ./workload\n"
      "  nl-stage plan --keys");
  verb->callback([flags, &action] { action = [flags] { return run_plan(*flags); }; });
}

}  // namespace nl::cli
