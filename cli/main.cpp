#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <exception>
#include <functional>

#include "cli/exit_status.h"
#include "cli/print_result.h"
#include "cli/run_flags.h"
#include "cli/usage_error.h"
#include "cli/verbs.h"
#include "model/error.h"
#include "orchestrator/bundle/version.h"

namespace {

// CLI11 throws --help and --version too; those it prints itself.
bool parse(CLI::App& app, int argc, char** argv) {
  try {
    app.parse(argc, argv);
    return true;
  } catch (const CLI::ParseError& wrong) {
    if (wrong.get_exit_code() != 0) throw nl::cli::usage_error(app, wrong);
    app.exit(wrong);
    return false;
  }
}

}  // namespace

int main(int argc, char** argv) {
  nl::cli::cut_command(argc, argv);
  CLI::App app("Profile LLM inference: where the time of prefill and decode went, with evidence and fixes.",
               "nl-stage");
  app.set_version_flag("--version", std::string("nl-stage ") + nl::orchestrator::version());
  app.require_subcommand(1);
  app.footer(
      "Examples:\n"
      "  nl-stage doctor\n"
      "  nl-stage run --config light -- ./workload\n"
      "  nl-stage run --config deep -- python generate.py\n"
      "  nl-stage profile --backend onnxruntime --model model.onnx --batch 1\n"
      "  nl-stage import --nsys run.sqlite --ncu raw.csv --out bundle\n"
      "  nl-stage report bundle --rules my_rules.yaml\n"
      "  nl-stage stats --report cuda_gpu_kern_sum run.sqlite\n"
      "`nl-stage VERB --help` lists the flags and examples of each verb.");
  std::function<int()> action;
  nl::cli::add_verbs(app, action);
  try {
    return parse(app, argc, argv) ? action() : 0;
  } catch (const nl::Error& error) {
    nl::cli::print_error(error);
    return nl::cli::exit_status_of(error.kind);
  } catch (const std::exception& broken) {
    nl::cli::print_error(
        {nl::ErrorKind::kInternal, broken.what(), "nl-stage", "this is a bug in nl-stage; please report it"});
    return nl::cli::exit_status_of(nl::ErrorKind::kInternal);
  }
}
