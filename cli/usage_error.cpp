#include "cli/usage_error.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <string>
#include <vector>

#include "cli/workload_words.h"
#include "orchestrator/config/nearest.h"

namespace nl::cli {
namespace {

constexpr const char* kWhere = "command line";

std::vector<std::string> verb_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* verb : app.get_subcommands([](const CLI::App* each) { return !each->get_group().empty(); })) names.push_back(verb->get_name());
  return names;
}

Error unknown(const char* what, const std::string& word, const std::vector<std::string>& names, const std::string& help) {
  const std::string near = orchestrator::nearest_name(word, names);
  return {ErrorKind::kUsage, fmt::format("unknown {} '{}'", what, word), kWhere,
          near.empty() ? fmt::format("one of: {}; `{} --help` explains them", fmt::join(names, ", "), help) : fmt::format("did you mean '{}'?", near)};
}

std::string name_of(const std::string& flag) { return flag.substr(0, flag.find('=')); }

// "nl-stage fingerprint search"
std::string called_as(const CLI::App& verb) { return verb.get_parent() == nullptr ? verb.get_name() : called_as(*verb.get_parent()) + " " + verb.get_name(); }

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

Error unknown_verb(const CLI::App& app, const std::string& word) { return unknown("verb", word, verb_names(app), app.get_name()); }

Error usage_error(const CLI::App& app, const CLI::ParseError& wrong) {
  const CLI::App& verb = innermost_verb(app);
  const std::string called = called_as(verb);
  const auto words = app.remaining(true);
  if (!words.empty() && is_flag(words.front())) return unknown("flag", name_of(words.front()), flag_names(verb), called);
  if (!words.empty() && &verb == &app) return unknown_verb(app, words.front());
  const std::string help = fmt::format("`{} --help` has the flags and examples", called);
  if (!words.empty()) return {ErrorKind::kUsage, fmt::format("unexpected word '{}'", words.front()), kWhere, help};
  return {ErrorKind::kUsage, wrong.what(), kWhere, help};
}

}  // namespace nl::cli
