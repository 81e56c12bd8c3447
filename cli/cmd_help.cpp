#include <CLI/CLI.hpp>

#include <cstdio>
#include <functional>
#include <memory>

#include "cli/usage_error.h"
#include "cli/verbs.h"

namespace nl::cli {
namespace {

// "fingerprint search" is a verb of a verb.
int print_help_of(CLI::App& app, const std::vector<std::string>& words) {
  app.clear();  // else CLI11 would print the help of `help`, which is what was parsed
  const CLI::App* verb = &app;
  std::string before;
  for (const std::string& word : words) {
    const CLI::App* const next = verb_named(*verb, word);
    if (next == nullptr) throw unknown_verb(*verb, word);
    before += (before.empty() ? "" : " ") + verb->get_name();
    verb = next;
  }
  std::fputs(verb->help(before).c_str(), stdout);
  return 0;
}

}  // namespace

void add_help(CLI::App& app, std::function<int()>& action) {
  auto words = std::make_shared<std::vector<std::string>>();
  CLI::App* verb = app.add_subcommand("help", "Print the flags and examples of a verb");
  verb->add_option("verb", *words, "its name; none: the list of all")->type_name("VERB");
  verb->footer(
      "Examples:\n"
      "  nl-stage help\n"
      "  nl-stage help import\n"
      "  nl-stage help fingerprint search");
  verb->callback([words, &app, &action] { action = [words, &app] { return print_help_of(app, *words); }; });
}

}  // namespace nl::cli
