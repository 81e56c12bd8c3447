#include "cli/usage_error.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <string>
#include <vector>

#include "cli/argument_fault.h"
#include "cli/workload_words.h"
#include "orchestrator/config/nearest.h"

namespace nl::cli {
namespace {

constexpr const char* kWhere = "command line";

std::vector<std::string> verb_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* verb : app.get_subcommands([](const CLI::App* each) { return !each->get_group().empty(); }))
    names.push_back(verb->get_name());
  return names;
}

Error unknown(const char* what, const std::string& word, const std::vector<std::string>& names, const std::string& help) {
  const std::string near = orchestrator::nearest_name(word, names);
  return {ErrorKind::kUsage, fmt::format("unknown {} '{}'", what, word), kWhere,
          near.empty() ? fmt::format("one of: {}; `{} --help` explains them", fmt::join(names, ", "), help)
                       : fmt::format("did you mean '{}'?", near)};
}

std::string without_value(const std::string& flag) { return flag.substr(0, flag.find('=')); }

Error unknown_flag(const CLI::App& verb, const std::string& flag) { return unknown("flag", flag, flag_names(verb), called_as(verb)); }

// A flag that stands before the verb may be one of the verb.
Error misplaced_flag(const CLI::App& app, const CLI::App& verb, const std::string& flag) {
  const auto names = flag_names(verb);
  if (std::find(names.begin(), names.end(), flag) == names.end()) return unknown_flag(app, flag);
  return {ErrorKind::kUsage, fmt::format("{} stands before the verb", flag), kWhere, fmt::format("write {} {} …", called_as(verb), flag)};
}

}  // namespace

std::vector<std::string> flag_names(const CLI::App& verb) {
  std::vector<std::string> names;
  for (const CLI::Option* option : verb.get_options())
    for (const auto& name : option->get_lnames()) names.push_back("--" + name);
  return names;
}

const CLI::App& innermost_verb(const CLI::App& app) {
  const auto given = app.get_subcommands();
  return given.empty() ? app : innermost_verb(*given.front());
}

Error unknown_verb(const CLI::App& app, const std::string& word) {
  const auto names = verb_names(app);
  if (!names.empty()) return unknown("verb", word, names, called_as(app));
  return {ErrorKind::kUsage, fmt::format("{} has no verb '{}'", called_as(app), word), kWhere,
          fmt::format("`{} --help` has its flags and examples", called_as(app))};
}

std::string called_as(const CLI::App& verb) {
  return verb.get_parent() == nullptr ? verb.get_name() : called_as(*verb.get_parent()) + " " + verb.get_name();
}

Error usage_error(const CLI::App& app, const CLI::ParseError& wrong, const std::string& last_word) {
  const CLI::App& verb = innermost_verb(app);
  auto words = app.remaining(true);
  std::erase(words, kEndOfFlags);
  if (words.empty()) return argument_fault(app, wrong, last_word);
  const std::string& word = words.front();
  if (is_flag(word))
    return app.remaining(false).empty() ? unknown_flag(verb, without_value(word)) : misplaced_flag(app, verb, without_value(word));
  if (&verb == &app) return unknown_verb(app, word);
  return {ErrorKind::kUsage, fmt::format("unexpected word '{}'", word), kWhere,
          fmt::format("`{} --help` has the flags and examples", called_as(verb))};
}

}  // namespace nl::cli
