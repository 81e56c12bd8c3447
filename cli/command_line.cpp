#include "cli/command_line.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <string>
#include <string_view>

#include "cli/output.h"
#include "cli/usage_error.h"
#include "cli/verbs.h"
#include "cli/workload_words.h"
#include "orchestrator/bundle/version.h"

namespace nl::cli {
namespace {

constexpr std::string_view kJsonFlag = "--json";

int print_help(const CLI::App& app) {
  write_text(app.help());
  return 0;
}

}  // namespace

const CLI::App* verb_named(const CLI::App& app, std::string_view name) {
  const auto found = app.get_subcommands([name](const CLI::App* verb) { return verb->get_name() == name; });
  return found.empty() ? nullptr : found.front();
}

void set_up(CLI::App& app, std::function<int()>& action) {
  app.name("nl-stage");
  app.description("Profile LLM inference: where the time of prefill and decode went, with evidence and fixes.");
  app.set_version_flag("-V,--version", std::string("nl-stage ") + orchestrator::version());
  app.require_subcommand(1);
  app.footer(
      "Examples:\n"
      "  nl-stage doctor\n"
      "  nl-stage run --config light ./workload\n"
      "  nl-stage run --config deep python generate.py\n"
      "  nl-stage profile --backend onnxruntime --model model.onnx --batch 1\n"
      "  nl-stage import run.sqlite raw.csv --out bundle\n"
      "  nl-stage report bundle --rules my_rules.yaml\n"
      "  nl-stage stats --report cuda_gpu_kern_sum run.sqlite\n"
      "`nl-stage help VERB` lists the flags and examples of each verb.");
  add_verbs(app, action);
}

bool asks_for_json(const CLI::App& app, int argc, char** argv) {
  const auto end = std::find(argv + 1, argv + workload_begin(app, argc, argv), kEndOfFlags);
  return std::any_of(argv + 1, end, [](const char* word) { return word == kJsonFlag; });
}

bool parse(CLI::App& app, int argc, char** argv, std::function<int()>& action) {
  if (argc <= 1) {
    action = [&app] { return print_help(app); };
    return true;
  }
  cut_workload(app, argc, argv);
  try {
    app.parse(argc, argv);
    return true;
  } catch (const CLI::ParseError& wrong) {
    if (wrong.get_exit_code() != 0) throw usage_error(app, wrong);
    app.exit(wrong);  // CLI11 throws --help and --version too; those it prints itself
    return false;
  }
}

}  // namespace nl::cli
