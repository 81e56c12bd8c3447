#include "cli/usage_error.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <string>
#include <vector>

#include "orchestrator/config/nearest.h"

namespace nl::cli {
namespace {

constexpr const char* kWhere = "command line";

std::vector<std::string> verb_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* verb : app.get_subcommands([](const CLI::App* each) { return !each->get_group().empty(); })) names.push_back(verb->get_name());
  return names;
}

std::vector<std::string> flag_names(const CLI::App& verb) {
  std::vector<std::string> names;
  for (const CLI::Option* option : verb.get_options())
    for (const auto& name : option->get_lnames()) names.push_back("--" + name);
  return names;
}

Error unknown(const char* what, const std::string& word, const std::vector<std::string>& names, const std::string& help) {
  const std::string near = orchestrator::nearest_name(word, names);
  return {ErrorKind::kUsage, fmt::format("unknown {} '{}'", what, word), kWhere,
          near.empty() ? fmt::format("one of: {}; `{} --help` explains them", fmt::join(names, ", "), help) : fmt::format("did you mean '{}'?", near)};
}

bool is_flag(const std::string& word) { return word.size() > 1 && word.front() == '-'; }

std::string name_of(const std::string& flag) { return flag.substr(0, flag.find('=')); }

}  // namespace

Error usage_error(const CLI::App& app, const CLI::ParseError& wrong) {
  const auto verbs = app.get_subcommands();
  const CLI::App& verb = verbs.empty() ? app : *verbs.front();
  const std::string help = verbs.empty() ? "nl-stage" : "nl-stage " + verb.get_name();
  const auto words = app.remaining(true);
  if (!words.empty() && is_flag(words.front())) return unknown("flag", name_of(words.front()), flag_names(verb), help);
  if (!words.empty() && verbs.empty()) return unknown("verb", words.front(), verb_names(app), help);
  if (!words.empty())
    return {ErrorKind::kUsage, fmt::format("unexpected word '{}'", words.front()), kWhere, fmt::format("`{} --help` has the flags and examples", help)};
  if (verbs.empty())
    return {ErrorKind::kUsage, "no verb is given", kWhere, fmt::format("one of: {}; `nl-stage --help` explains them", fmt::join(verb_names(app), ", "))};
  return {ErrorKind::kUsage, wrong.what(), kWhere, fmt::format("`{} --help` has the flags and examples", help)};
}

}  // namespace nl::cli
