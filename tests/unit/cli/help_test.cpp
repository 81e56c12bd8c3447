#include <CLI/CLI.hpp>
#include <functional>
#include <string>

#include "cli/verbs.h"
#include "tests/catch.h"
#include "tests/unit/golden.h"

// What --help says, without the layout, which is CLI11's.
namespace {

std::string flag_line(const CLI::Option& option) {
  std::string line = "  " + option.get_name(true, true) + " | " + option.get_type_name() + " | " + option.get_description();
  if (option.get_required()) line += " | required";
  if (!option.get_default_str().empty()) line += " | default " + option.get_default_str();
  return line + "\n";
}

std::string help_of(const CLI::App& verb) {
  std::string text = verb.get_name() + ": " + verb.get_description() + "\n";
  for (const CLI::Option* option : verb.get_options())
    if (option != verb.get_help_ptr()) text += flag_line(*option);
  return text + verb.get_footer() + "\n\n";
}

}  // namespace

TEST_CASE("cli help: the verbs, their flags and examples are the golden ones", "[golden]") {
  CLI::App app;
  std::function<int()> action;
  nl::cli::add_verbs(app, action);
  std::string text;
  for (const CLI::App* verb : app.get_subcommands([](const CLI::App*) { return true; })) text += help_of(*verb);
  nl::test::check_golden(nl::test::kGolden + "cli_help.txt", text);
}
