#include <CLI/CLI.hpp>

#include <functional>
#include <memory>

#include "cli/help_json.h"
#include "cli/json_output.h"
#include "cli/usage_error.h"
#include "cli/verbs.h"

namespace nl::cli {
namespace {

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

}  // namespace nl::cli
