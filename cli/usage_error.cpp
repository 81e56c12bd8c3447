#include "cli/usage_error.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <charconv>
#include <sstream>
#include <string>
#include <vector>

#include "cli/manual/flag_facts.h"
#include "cli/manual/reference.h"
#include "cli/workload_words.h"
#include "orchestrator/config/nearest.h"

namespace nl::cli {
namespace {

constexpr const char* kWhere = "command line";
constexpr std::size_t kMostListed = 8;  // names in an error; --help has more

// What other programs call it, or what people type first. A verb of our own of this name comes before.
struct Synonym {
  std::string_view word, ours;
};
constexpr Synonym kSynonyms[] = {
    {"diff", "compare"},    {"benchstat", "compare"}, {"ab", "try"},         {"version", "--version"}, {"list", "ls"},
    {"search", "ls"},       {"history", "ls"},        {"runs", "ls"},        {"info", "show"},         {"summary", "show"},
    {"delete", "rm"},       {"remove", "rm"},         {"check", "validate"}, {"render", "report"},     {"simulate", "whatif"},
    {"predict", "whatif"},  {"glossary", "explain"},  {"define", "explain"}, {"docs", "help topics"},  {"man", "help"},
    {"pack", "export"},     {"open", "import"},       {"record-run", "run"}, {"trace", "run"},         {"bench", "suite"},
    {"benchmark", "suite"}, {"expect", "gate"},       {"env", "doctor"},     {"devices", "doctor"},
};

std::string synonym_of(const std::string& word) {
  const auto found = std::find_if(std::begin(kSynonyms), std::end(kSynonyms), [&](const Synonym& each) { return each.word == word; });
  return found == std::end(kSynonyms) ? "" : std::string(found->ours);
}

CodedError unknown(ErrorCode code, const char* what, const std::string& word, const std::vector<std::string>& names,
                   const std::string& help) {
  const std::string near = orchestrator::nearest_name(word, names);
  const std::string rest = names.size() > kMostListed ? fmt::format("`{} --help` lists them", help)
                                                      : fmt::format("one of: {}; `{} --help` explains them", fmt::join(names, ", "), help);
  return {code, fmt::format("unknown {} '{}'", what, word), kWhere, near.empty() ? rest : fmt::format("did you mean '{}'?", near)};
}

std::string without_value(const std::string& flag) { return flag.substr(0, flag.find('=')); }

CodedError unknown_flag(const CLI::App& verb, const std::string& flag) {
  return unknown(ErrorCode::kUnknownFlag, "flag", flag, flag_names(verb), called_as(verb));
}

// A flag that stands before the verb may be one of the verb.
CodedError misplaced_flag(const CLI::App& app, const CLI::App& verb, const std::string& flag) {
  const auto names = flag_names(verb);
  if (std::find(names.begin(), names.end(), flag) == names.end()) return unknown_flag(app, flag);
  return {ErrorCode::kUnknownFlag, fmt::format("{} stands before the verb", flag), kWhere,
          fmt::format("write {} {} …", called_as(verb), flag)};
}

using Options = std::vector<const CLI::Option*>;

// Of the program, then of the verb, then of the verb below it: the order in which CLI11 looks at them.
Options all_options(const CLI::App& app) {
  Options options = app.get_options();
  for (const CLI::App* verb : app.get_subcommands())
    for (const CLI::Option* option : all_options(*verb)) options.push_back(option);
  return options;
}

Options given_options(const CLI::App& app) {
  Options options = all_options(app);
  std::erase_if(options, [](const CLI::Option* option) { return option->count() == 0; });
  return options;
}

// "--rounds"; "RUN" of a positional one
std::string name_of(const CLI::Option& option) {
  const FlagFacts argument = facts_of(option);
  return option.nonpositional() ? argument.names.back() : argument.value_name;
}

// "--rounds N"
std::string shown(const CLI::Option& option) {
  const std::string type = facts_of(option).value_name;
  return option.nonpositional() && !type.empty() ? name_of(option) + " " + type : name_of(option);
}

CodedError fault(ErrorCode code, std::string what, std::string where, std::string fix) {
  return {code, std::move(what), std::move(where), std::move(fix)};
}

CodedError unread(const CLI::App& app) {
  const std::string called = called_as(innermost_verb(app));
  return fault(ErrorCode::kUsage, "the command line cannot be read", called, fmt::format("`{} --help` has the flags and examples", called));
}

// The first that is of this verb: one may begin with what makes its files. Empty: there is none.
std::string example_of(const CLI::App& verb) {
  std::istringstream examples(reference_of_verb(verb).examples);
  for (std::string line; std::getline(examples, line);)
    if (line.starts_with(called_as(verb))) return line;
  return {};
}

// "add RUN, such as: nl-stage show last"
std::string add_it(const CLI::Option& option, const CLI::App& verb) {
  const std::string first = example_of(verb);
  return fmt::format("add {}{}; `{} --help` explains it", shown(option), first.empty() ? "" : ", such as: " + first, called_as(verb));
}

CodedError missing_argument(const CLI::App& app) {
  const CLI::App& verb = innermost_verb(app);
  const std::string called = called_as(verb);
  for (const CLI::Option* option : all_options(app))
    if (option->get_required() && option->count() == 0)
      return fault(ErrorCode::kMissingArgument, shown(*option) + " is missing", called, add_it(*option, verb));
  return fault(ErrorCode::kMissingArgument, "no verb is given", called, fmt::format("`{} --help` lists the verbs", called));
}

CodedError no_value(const CLI::Option& option) {
  return fault(ErrorCode::kMissingArgument, name_of(option) + " has no value", name_of(option), fmt::format("write {}", shown(option)));
}

bool is_number(const std::string& text) {
  double number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  return read.ec == std::errc() && read.ptr == text.data() + text.size();
}

CodedError wrong_value(const CLI::App& app, const CLI::Option& option) {
  const FlagFacts argument = facts_of(option);
  const std::string name = name_of(option);
  if (argument.value_name.empty())
    return fault(ErrorCode::kWrongValue, name + " takes no value", name, fmt::format("write {} alone", name));
  const auto known = [&](const std::string& value) {
    return std::find(argument.choices.begin(), argument.choices.end(), value) != argument.choices.end();
  };
  const auto first_wrong = std::find_if_not(option.results().begin(), option.results().end(), known);
  const std::string value = first_wrong == option.results().end() ? option.results().back() : *first_wrong;
  const auto flags = flag_names(innermost_verb(app));
  if (std::find(flags.begin(), flags.end(), value) != flags.end()) return no_value(option);  // "--rounds --json"
  const std::string what = fmt::format("'{}' is no value of {}", value, name);
  if (argument.choices.size() > kMostListed)
    return fault(ErrorCode::kWrongValue, what, name, orchestrator::nearest_or_all(value, argument.choices));
  if (!argument.choices.empty())
    return fault(ErrorCode::kWrongValue, what, name, fmt::format("one of: {}", fmt::join(argument.choices, ", ")));
  return fault(ErrorCode::kWrongValue, what, name,
               fmt::format("write {}", !argument.limits.empty() ? argument.limits
                                       : is_number(value)       ? "a whole number"
                                                                : "a number"));
}

CodedError too_many_values(const CLI::Option& option) {
  const std::string name = name_of(option);
  const int most = option.get_items_expected_max();
  if (most <= 1) return fault(ErrorCode::kWrongValue, fmt::format("{} is given {} times", name, option.count()), name, "give it once");
  return fault(ErrorCode::kWrongValue, fmt::format("{} has {} values", name, option.count()), name, fmt::format("give {} at most", most));
}

// Values that were read and are too many; else the words ended before the value of the last flag.
CodedError wrong_count(const CLI::App& app, const std::string& last_word) {
  for (const CLI::Option* option : given_options(app))
    if (!option->get_callback_run() && static_cast<int>(option->count()) > std::max(option->get_items_expected_max(), 1))
      return too_many_values(*option);
  const CLI::Option* last = innermost_verb(app).get_option_no_throw(last_word.substr(0, last_word.find('=')));
  return last == nullptr ? unread(app) : no_value(*last);
}

CodedError missing_partner(const CLI::App& app) {
  for (const CLI::Option* option : given_options(app))
    for (const CLI::Option* partner : option->get_needs())
      if (partner->count() == 0)
        return fault(ErrorCode::kConflictingFlags, fmt::format("{} needs {}", name_of(*option), name_of(*partner)), name_of(*option),
                     "add " + shown(*partner));
  return unread(app);
}

CodedError conflict(const CLI::App& app) {
  for (const CLI::Option* option : given_options(app))
    for (const CLI::Option* other : option->get_excludes())
      if (other->count() > 0)
        return fault(ErrorCode::kConflictingFlags, fmt::format("{} and {} cannot be combined", name_of(*option), name_of(*other)),
                     name_of(*option), "leave one of them out");
  return unread(app);
}

// What CLI11 found wrong with a flag or an argument that is known: missing, without its value, with a wrong one, or given twice.
// `last_word` is that of the command line.
// CLI11 says what is wrong by the type of its exception, and where only in a sentence. It looks at the options in order and marks
// those that it has handed on: the mark tells where it stopped.
CodedError argument_fault(const CLI::App& app, const CLI::ParseError& wrong, const std::string& last_word) {
  const Options given = given_options(app);
  const auto handed_on = [](const CLI::Option* option) { return option->get_callback_run(); };
  switch (static_cast<CLI::ExitCodes>(wrong.get_exit_code())) {
    case CLI::ExitCodes::RequiredError: return missing_argument(app);
    case CLI::ExitCodes::RequiresError: return missing_partner(app);
    case CLI::ExitCodes::ExcludesError: return conflict(app);
    case CLI::ExitCodes::ArgumentMismatch: return wrong_count(app, last_word);
    case CLI::ExitCodes::ValidationError: {  // before it would have been handed on
      const auto culprit = std::find_if_not(given.begin(), given.end(), handed_on);
      return culprit == given.end() ? unread(app) : wrong_value(app, **culprit);
    }
    case CLI::ExitCodes::ConversionError: {  // while it was handed on
      const auto culprit = std::find_if(given.rbegin(), given.rend(), handed_on);
      return culprit == given.rend() ? unread(app) : wrong_value(app, **culprit);
    }
    default: return unread(app);
  }
}

}  // namespace

std::vector<std::string> verb_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* verb : app.get_subcommands([](const CLI::App* each) { return !each->get_group().empty(); }))
    names.push_back(verb->get_name());
  return names;
}

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

CodedError unknown_verb(const CLI::App& app, const std::string& word) {
  const auto names = verb_names(app);
  const std::string synonym = app.get_parent() == nullptr ? synonym_of(word) : "";
  if (!synonym.empty())
    return {ErrorCode::kUnknownVerb, fmt::format("unknown verb '{}'", word), kWhere, fmt::format("did you mean '{}'?", synonym)};
  if (!names.empty()) return unknown(ErrorCode::kUnknownVerb, "verb", word, names, called_as(app));
  return {ErrorCode::kUnknownVerb, fmt::format("{} has no verb '{}'", called_as(app), word), kWhere,
          fmt::format("`{} --help` has its flags and examples", called_as(app))};
}

std::string called_as(const CLI::App& verb) {
  return verb.get_parent() == nullptr ? verb.get_name() : called_as(*verb.get_parent()) + " " + verb.get_name();
}

CodedError usage_error(const CLI::App& app, const CLI::ParseError& wrong, const std::string& last_word) {
  const CLI::App& verb = innermost_verb(app);
  auto words = app.remaining(true);
  std::erase(words, kEndOfFlags);
  if (words.empty()) return argument_fault(app, wrong, last_word);
  const std::string& word = words.front();
  if (is_flag(word))
    return app.remaining(false).empty() ? unknown_flag(verb, without_value(word)) : misplaced_flag(app, verb, without_value(word));
  if (&verb == &app) return unknown_verb(app, word);
  return {ErrorCode::kWrongValue, fmt::format("unexpected word '{}'", word), kWhere,
          fmt::format("`{} --help` has the flags and examples", called_as(verb))};
}

}  // namespace nl::cli
