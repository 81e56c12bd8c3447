#include "cli/manual/flag_facts.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <sstream>

#include "cli/manual/number_limits.h"

namespace nl::cli {
namespace {

// CLI11 writes the allowed values behind the type: "WHAT:{host,paths}", "N:a whole number from 1 to 100". A type may have a colon of its own:
// "CALL|FILE:LINE|all".
struct TypeText {
  std::string type;
  std::vector<std::string> choices;
  std::string limits;
};

std::vector<std::string> split_list(const std::string& text) {
  std::vector<std::string> words;
  std::istringstream list(text);
  for (std::string word; std::getline(list, word, ',');) words.push_back(word);
  return words;
}

TypeText split_type(const std::string& text) {
  if (const std::size_t open = text.find(":{"); open != std::string::npos && text.back() == '}')
    return {text.substr(0, open), split_list(text.substr(open + 2, text.size() - open - 3)), {}};
  for (const std::size_t colon : {text.find(std::string(":") + kNumberWords<int>), text.find(std::string(":") + kNumberWords<double>)})
    if (colon != std::string::npos) return {text.substr(0, colon), {}, text.substr(colon + 1)};
  return {text, {}, {}};
}

std::vector<std::string> names_of(const CLI::Option& option) {
  if (option.get_positional()) return {option.get_name(true, false)};
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  return names;
}

std::vector<std::string> last_names(const std::set<CLI::Option*>& options) {
  std::vector<std::string> names;
  for (const CLI::Option* option : options) names.push_back(names_of(*option).back());
  std::sort(names.begin(), names.end());  // the set is sorted by addresses
  return names;
}

std::string without_hyphens(const std::string& name) { return name.substr(std::min(name.find_first_not_of('-'), name.size())); }

ValueType narrowed(ValueType type, const std::string& limits) {
  if (limits.starts_with(kNumberWords<int>)) return ValueType::kInteger;
  return limits.empty() ? type : ValueType::kNumber;
}

void read_values(const CLI::Option& option, FlagFacts& facts) {
  TypeText text = split_type(option.get_type_name());
  Values values = values_of_type(text.type);
  facts.choices = !text.choices.empty() ? std::move(text.choices) : values.closed ? values.words : std::vector<std::string>{};
  facts.words = facts.choices.empty() ? std::move(values.words) : facts.choices;
  facts.asks = values.asks;
  facts.paths = values.paths;
  facts.type = narrowed(values.type, text.limits);
  const NumberLimits limits = limits_in(text.limits);
  facts.least = limits.least;
  facts.most = limits.most;
  facts.above_least = limits.above_least;
  facts.value_name = std::move(text.type);
  facts.limits = std::move(text.limits);
  facts.default_value = option.get_default_str();
}

// A vector that takes no extra words (--set) is one value each time, and many in all.
void read_counts(const CLI::Option& option, FlagFacts& facts) {
  const int most = option.get_items_expected_max();
  facts.many = most > 1;
  facts.repeatable = facts.many && !facts.positional;
  const bool one_each_time = facts.repeatable && !option.get_allow_extra_args();
  facts.least_values = facts.positional && !facts.required ? 0 : option.get_items_expected_min();
  facts.most_values = one_each_time ? 1 : most >= CLI::detail::expected_max_vector_size ? kAnyNumber : most;
  facts.separator = option.get_delimiter();
}

}  // namespace

NumberLimits limits_in(const std::string& words) {
  const auto behind = [&words](const std::string& word) -> std::optional<double> {
    const std::size_t at = words.find(word);
    return at == std::string::npos ? std::nullopt : std::optional(std::stod(words.substr(at + word.size())));
  };
  const std::optional<double> above = behind(" above ");
  return {above ? above : behind(" from "), behind(" to "), above.has_value()};
}

FlagFacts facts_of(const CLI::Option& option) {
  FlagFacts facts;
  facts.names = names_of(option);
  facts.name = without_hyphens(facts.names.back());
  facts.positional = option.get_positional();
  facts.help = option.get_description();
  facts.group = option.get_group();
  facts.required = option.get_required();
  facts.excludes = last_names(option.get_excludes());
  facts.needs = last_names(option.get_needs());
  if (option.get_items_expected_max() == 0) return facts;
  read_values(option, facts);
  read_counts(option, facts);
  return facts;
}

}  // namespace nl::cli
