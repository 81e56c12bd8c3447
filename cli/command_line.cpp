#include "cli/command_line.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "cli/json_output.h"
#include "cli/usage_error.h"
#include "cli/verbs.h"
#include "cli/workload_words.h"
#include "orchestrator/bundle/provenance.h"

namespace nl::cli {
namespace {

// {name, description, flags: [{names, description, required}], verbs: [{name, description}]}
nlohmann::ordered_json help_json(const CLI::App& verb) {
  nlohmann::ordered_json out = {{"name", verb.get_name()}, {"description", verb.get_description()}};
  out["flags"] = nlohmann::ordered_json::array();
  for (const CLI::Option* option : verb.get_options())
    if (!option->get_group().empty())
      out["flags"].push_back(
          {{"names", option->get_name(true, true)}, {"description", option->get_description()}, {"required", option->get_required()}});
  out["verbs"] = nlohmann::ordered_json::array();
  for (const CLI::App* each : verb.get_subcommands([](const CLI::App* below) { return !below->get_group().empty(); }))
    out["verbs"].push_back({{"name", each->get_name()}, {"description", each->get_description()}});
  return out;
}

constexpr const char* kName = "nl-stage";
constexpr std::string_view kJsonFlag = "--json";

// Prints the help of the verb that was given.
int print_help(const CLI::App& app, bool json) {
  if (json) write_json(help_json(innermost_verb(app)));
  else write_text(app.help());
  return 0;
}

int print_version(bool json) {
  if (json) write_json({{"name", kName}, {"version", orchestrator::version()}});
  else write_out("{} {}\n", kName, orchestrator::version());
  return 0;
}

struct HelpFlags {
  std::vector<std::string> words;
  bool json = false;
};

// "fingerprint search" is a verb of a verb.
int print_help_of(CLI::App& app, const HelpFlags& flags) {
  app.clear();  // else CLI11 would print the help of `help`, which is what was parsed
  const CLI::App* verb = &app;
  std::string before;
  for (const std::string& word : flags.words) {
    const CLI::App* const next = verb_named(*verb, word);
    if (next == nullptr) throw unknown_verb(*verb, word);
    before += (before.empty() ? "" : " ") + verb->get_name();
    verb = next;
  }
  if (flags.json) write_json(help_json(*verb));
  else write_text(verb->help(before));
  return 0;
}

}  // namespace

void add_help(CLI::App& app, std::function<int()>& action) {
  auto flags = std::make_shared<HelpFlags>();
  CLI::App* verb = app.add_subcommand("help", "Print the flags and examples of a verb");
  verb->add_option("verb", flags->words, "its name; none: the list of all")->type_name("VERB");
  verb->add_flag("--json", flags->json, "print {name, description, flags, verbs}");
  verb->footer(
      "Examples:\n"
      "  nl-stage help\n"
      "  nl-stage help import\n"
      "  nl-stage help fingerprint search");
  verb->callback([flags, &app, &action] { action = [flags, &app] { return print_help_of(app, *flags); }; });
}

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
      "`nl-stage help VERB` lists the flags and examples of each verb.");
  add_verbs(app, action);
}

bool asks_for_json(const CLI::App& app, int argc, char** argv) {
  const auto end = std::find(argv + 1, argv + workload_begin(app, argc, argv), kEndOfFlags);
  return std::any_of(argv + 1, end, [](const char* word) { return word == kJsonFlag; });
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
