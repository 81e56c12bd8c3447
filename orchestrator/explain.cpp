#include "orchestrator/explain.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <set>

namespace nl::orchestrator {
namespace {

using analysis::rules::Field;

constexpr std::string_view kOfRun = "run.";
constexpr std::array kScopes = {RuleScope::kRun, RuleScope::kStage, RuleScope::kKernel, RuleScope::kOperator};

// "Launch-starved" and "launch_starved" are one name.
std::string name_folded(std::string_view name) {
  std::string folded;
  for (const unsigned char letter : name) folded += letter == '-' || letter == ' ' ? '_' : static_cast<char>(std::tolower(letter));
  return folded;
}

std::vector<std::string_view> names_of_term(const GlossaryEntry& entry) {
  std::vector<std::string_view> names{entry.term};
  for (std::string_view rest = entry.names; !rest.empty();) {
    const std::size_t end = std::min(rest.find('|'), rest.size());
    names.push_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return names;
}

std::vector<std::string_view> names_of_metric(const RunMetricInfo& info) { return {info.key, info.title, info.uses.compare}; }

bool goes_by_any(const std::vector<std::string_view>& names, const std::string& folded) {
  return std::any_of(names.begin(), names.end(), [&](std::string_view name) { return !name.empty() && name_folded(name) == folded; });
}

// "launching_share > 10% and run.span > 1s" reads launching_share of its own scope, and span of the run.
std::vector<ExplainedField> fields_in(const RuleSpec& spec) {
  std::vector<ExplainedField> fields;
  const std::string text = (spec.where ? spec.where->text + " " : "") + spec.condition.text;
  const auto in_name = [](unsigned char letter) { return std::isalnum(letter) != 0 || letter == '_' || letter == '.'; };
  for (auto at = text.begin(); at != text.end();) {
    const auto begin = std::find_if(at, text.end(), in_name);
    at = std::find_if_not(begin, text.end(), in_name);
    std::string_view word(text.data() + (begin - text.begin()), static_cast<std::size_t>(at - begin));
    const bool of_run = word.starts_with(kOfRun);
    if (of_run) word.remove_prefix(kOfRun.size());
    const RuleScope scope = of_run ? RuleScope::kRun : spec.scope;
    const Field* field = analysis::rules::find_field(scope, word);
    const bool known = std::any_of(fields.begin(), fields.end(), [field](const ExplainedField& each) { return each.field == field; });
    if (field != nullptr && !known) fields.push_back({scope, field});
  }
  return fields;
}

// "stage.decode_step.median_ms" is a key, "median_ms" the row of all such keys.
void add_metrics(std::string_view name, const std::string& folded, Explanation& found) {
  if (const RunMetricInfo* info = find_metric(name)) found.metrics.push_back(info);
  for (const RunMetricInfo& info : run_metric_table())
    if (goes_by_any(names_of_metric(info), folded) && (found.metrics.empty() || found.metrics.front() != &info))
      found.metrics.push_back(&info);
}

}  // namespace

Explanation explain(std::string_view name, const Rules& rules) {
  Explanation found;
  const std::string folded = name_folded(name);
  for (const GlossaryEntry& entry : glossary())
    if (goes_by_any(names_of_term(entry), folded)) found.terms.push_back(&entry);
  add_metrics(name, folded, found);
  for (const RuleSpec& spec : rules.list)
    if (spec.name == folded) found.rules.push_back({&spec, fields_in(spec)});
  for (const RuleScope scope : kScopes)
    if (const Field* field = analysis::rules::find_field(scope, folded)) found.fields.push_back({scope, field});
  if (const ConfigKey* key = find_config_key(name)) found.settings.push_back(key);
  for (const ErrorCodeInfo& each : error_codes())
    if (each.key == folded) found.codes.push_back(&each);
  return found;
}

std::vector<std::string> explained_names(const Rules& rules) {
  std::set<std::string> names;
  for (const GlossaryEntry& entry : glossary())
    for (const std::string_view name : names_of_term(entry)) names.emplace(name);
  for (const RunMetricInfo& info : run_metric_table()) names.emplace(info.key);
  for (const RuleSpec& spec : rules.list) names.insert(spec.name);
  for (const RuleScope scope : kScopes)
    for (const Field& field : analysis::rules::fields_of(scope)) names.emplace(field.name);
  for (const ConfigKey& key : config_keys()) names.emplace(key.path);
  for (const ErrorCodeInfo& each : error_codes()) names.emplace(each.key);
  return {names.begin(), names.end()};
}

}  // namespace nl::orchestrator
