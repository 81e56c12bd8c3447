#include <CLI/CLI.hpp>

#include <functional>
#include <memory>

#include "cli/print_result.h"
#include "cli/run_flags.h"
#include "cli/verbs.h"
#include "orchestrator/run.h"

namespace nl::cli {
namespace {

struct RunVerbFlags : RunFlags {
  bool dry_run = false, quiet = false, json = false, keep_env = false;
};

orchestrator::Config config_of(const RunVerbFlags& flags) {
  orchestrator::ConfigRequest request = config_request(flags);
  if (flags.keep_env) request.sets.push_back("artifacts.keep_env=true");
  return orchestrator::load_config(request);
}

int run(const RunVerbFlags& flags) {
  if (flags.dry_run) return print_plan(config_of(flags), flags, flags.json);
  orchestrator::ProcessLauncher launcher;
  return print_result(orchestrator::run_workload({config_of(flags), flags.out, flags.quiet}, launcher), flags.json);
}

}  // namespace

void add_run(CLI::App& app, std::function<int()>& action) {
  auto flags = std::make_shared<RunVerbFlags>();
  CLI::App* verb =
      app.add_subcommand("run", "Profile a workload: trace it, then measure its top kernels; leaves one bundle");
  add_run_flags(*verb, *flags);
  verb->add_flag("--dry-run", flags->dry_run, "print the exact command of every pass; start none");
  verb->add_flag("-q,--quiet", flags->quiet, "keep the workload's output in logs/ only");
  verb->add_flag("--json", flags->json, "print {run_id, bundle, status, exit_status, problems} on stdout");
  verb->add_flag("--keep-env", flags->keep_env, "leave the workload's environment in the exported SQLite");
  verb->footer(
      "The workload runs once under nsys and once or twice under ncu, each time with an empty standard input. Where one\n"
      "of them is missing, or with --config cupti, the collector traces and measures instead (CUPTI). A deep run repeats\n"
      "the workload, unprofiled and traced, to measure the profiling overhead (perturbation.*). The output of the workload\n"
      "goes to stderr. docs/exit-status.md lists the exit statuses.\n"
      "Examples:\n"
      "  nl-stage run --config deep -- python generate.py --model gpt2\n"
      "  nl-stage run --config cupti -- python generate.py --model gpt2\n"
      "  nl-stage run --config light --name smoke --set run.top_n_kernels=20 -- ./workload\n"
      "  nl-stage run --config deep --budget 3m -- python generate.py --model gpt2\n"
      "  nl-stage run --config deep --out bundle --json --quiet -- ./workload > result.json\n"
      "  nl-stage run --config deep --dry-run -- ./workload");
  verb->callback([flags, &action] { action = [flags] { return run(*flags); }; });
}

}  // namespace nl::cli
