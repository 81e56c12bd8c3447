#include "cli/command_line.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "cli/json_output.h"
#include "cli/manual/help_json.h"
#include "cli/manual/reference.h"
#include "cli/usage_error.h"
#include "cli/verbs.h"
#include "cli/workload_words.h"
#include "orchestrator/bundle/provenance.h"

namespace nl::cli {
namespace {

constexpr const char* kName = "nl-stage";
constexpr std::string_view kJsonFlag = "--json";
constexpr std::string_view kFormatFlag = "--format", kFormatLetter = "-f", kJsonValue = "json", kJsonFormat = "--format=json";  // of stats

// Prints the help of the verb that was given.
int print_help(const CLI::App& app, bool json) {
  const VerbReference verb = reference_of_verb(innermost_verb(app));
  if (json) write_json(help_json(verb));
  else write_text(help_text(verb, line_width()));
  return 0;
}

int print_version(bool json) {
  if (json) write_json({{"name", kName}, {"version", orchestrator::version()}});
  else write_out("{} {}\n", kName, orchestrator::version());
  return 0;
}

}  // namespace

const CLI::App* verb_named(const CLI::App& app, std::string_view name) {
  const auto found = app.get_subcommands([name](const CLI::App* verb) { return verb->get_name() == name; });
  return found.empty() ? nullptr : found.front();
}

void set_up(CLI::App& app, std::function<int()>& action) {
  app.name(kName);
  app.description("Profile LLM inference: where the time of prefill and decode went, with evidence and fixes.");
  app.set_version_flag("-V,--version", orchestrator::version());
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
      "\n`nl-stage help VERB` lists the flags and examples of each verb, `nl-stage help topics` the pages of the documentation.");
  add_verbs(app, action);
}

bool asks_for_json(const CLI::App& app, int argc, char** argv) {
  const auto end = std::find(argv + 1, argv + workload_begin(app, argc, argv), kEndOfFlags);
  const char* before = "";
  return std::any_of(argv + 1, end, [&before](const char* word) {
    const std::string_view name = std::exchange(before, word);
    return word == kJsonFlag || word == kJsonFormat || ((name == kFormatFlag || name == kFormatLetter) && word == kJsonValue);
  });
}

void parse(CLI::App& app, int argc, char** argv, std::function<int()>& action) {
  if (argc <= 1) {
    action = [&app] { return print_help(app, false); };
    return;
  }
  const bool json = asks_for_json(app, argc, argv);
  cut_workload(app, argc, argv);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    action = [&app, json] { return print_help(app, json); };
  } catch (const CLI::CallForVersion&) {
    action = [json] { return print_version(json); };
  } catch (const CLI::ParseError& wrong) {
    throw usage_error(app, wrong, argv[argc - 1]);
  }
}

}  // namespace nl::cli
