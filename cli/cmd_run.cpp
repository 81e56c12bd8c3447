#include <CLI/CLI.hpp>

#include <functional>
#include <memory>

#include "cli/run_flags.h"
#include "cli/verbs.h"

namespace nl::cli {

void add_run(CLI::App& app, std::function<int()>& action) {
  auto flags = std::make_shared<RunVerbFlags>();
  CLI::App* verb = app.add_subcommand("run", "Profile a workload: trace it, then measure its top kernels; leaves one bundle");
  add_run_verb_flags(*verb, *flags);
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

}  // namespace nl::cli
