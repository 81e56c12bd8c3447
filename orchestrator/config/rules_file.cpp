#include "orchestrator/config/knowledge.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "analysis/verdicts/rules/compile.h"
#include "model/words.h"
#include "orchestrator/config/conf_files.h"
#include "orchestrator/config/nearest.h"
#include "orchestrator/config/yaml_file.h"

namespace nl::orchestrator {
namespace {

constexpr double kHeaviest = 1000;  // weight of a piece of evidence
constexpr std::uint64_t kMostFindings = 1000;

std::string did_you_mean(const std::string& word, const std::vector<std::string>& candidates) {
  const bool too_many = candidates.size() > 12 && nearest_name(word, candidates).empty();
  return too_many ? "docs/rules.md lists them all" : nearest_or_all(word, candidates);
}

std::string in_words(std::string name) {
  std::replace(name.begin(), name.end(), '_', ' ');
  return name;
}

// Reads one file of rules. Its parts are named in the messages as they are written.
class RulesFile : YamlFile {
 public:
  explicit RulesFile(const ConfFile& file) : YamlFile(file, "rules file", "write rules: and a list below it") {
    std::istringstream in(file.text());
    for (std::string line; std::getline(in, line);) lines_.push_back(line);
  }

  void read_into(std::vector<RuleSpec>& rules) const {
    check_keys(tree_, "a file of rules", {"rules", "bottleneck_rules", "disable"});
    if (const YamlTree* names = find(tree_, "disable")) disable(*names, rules);
    if (tree_.entries.empty()) refuse("there are no rules in this file", tree_.place, "write rules: and a list below it");
    std::set<std::string> names;
    for (const bool brief : {false, true}) {
      const char* key = brief ? "bottleneck_rules" : "rules";
      const YamlTree* list = find(tree_, key);
      if (!list || list->kind == Kind::kNull) continue;
      want(*list, Kind::kList, fmt::format("'{}'", key), "a list", "begin each rule with '- name:'");
      add_rules(*list, brief, names, rules);
    }
  }

 private:
  void add_rules(const YamlTree& list, bool brief, std::set<std::string>& names, std::vector<RuleSpec>& rules) const {
    for (const YamlTree& item : list.items) {
      RuleSpec spec = brief ? brief_rule(item) : rule(item);
      if (!names.insert(spec.name).second)
        refuse(fmt::format("the rule '{}' is given twice", spec.name), item.place, "give one of them another name");
      check(spec);
      const auto same = std::find_if(rules.begin(), rules.end(), [&](const auto& each) { return each.name == spec.name; });
      if (same == rules.end()) rules.push_back(std::move(spec));
      else *same = std::move(spec);
    }
  }

  RuleText text(const YamlTree& value, const std::string& what) const {
    return {YamlFile::text(value, what), value.place.line, value.place.column};
  }

  bool truth(const YamlTree& value, const std::string& key) const {
    if (value.kind != Kind::kScalar || (value.text != "true" && value.text != "false"))
      refuse(fmt::format("'{}' wants true or false", key), value.place, "write true or false");
    return value.text == "true";
  }

  std::optional<RuleText> optional_text(const YamlTree& map, const std::string& key) const {
    const YamlTree* value = find(map, key);
    if (!value) return std::nullopt;
    return text(*value, "'" + key + "'");
  }

  template <class Number>
  Number number(const YamlTree& value, const std::string& key, Number least, Number most) const {
    return YamlFile::number<Number>(value, "'" + key + "'", "a number", fmt::format("from {} to {}", least, most), least, most);
  }

  template <class Enum>
  Enum word(const YamlTree& value, const std::string& key) const {
    const auto words = keys_of<Enum>();
    return static_cast<Enum>(one_of(value, "'" + key + "'", Keys(words.begin(), words.end())));
  }

  Severity severity_word(const YamlTree& value) const { return word<Severity>(value, "severity"); }

  void disable(const YamlTree& names, std::vector<RuleSpec>& rules) const {
    want(names, Kind::kList, "'disable'", "a list of rule names", "such as disable: [small_kernel_storm]");
    for (const YamlTree& item : names.items) {
      const std::string name = text(item, "'disable'").text;
      if (std::erase_if(rules, [&](const auto& each) { return each.name == name; }) > 0) continue;
      Keys known;
      for (const auto& each : rules) known.push_back(each.name);
      refuse(fmt::format("there is no rule '{}' to disable", name), item.place, did_you_mean(name, known));
    }
  }

  std::string name(const YamlTree& item) const {
    const YamlTree& value = need(item, "this rule", "name", "every rule has a name of its own");
    const std::string name = text(value, "'name'").text;
    if (name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") != std::string::npos)
      refuse(fmt::format("'{}' cannot be a rule's name", name), value.place, "small letters, digits and '_'");
    return name;
  }

  RuleSpec named(const YamlTree& item) const {
    RuleSpec spec;
    spec.name = name(item);
    spec.file = file_.name();
    spec.line = item.place.line;
    return spec;
  }

  // A rule in four lines, about the whole run:
  //   bottleneck_rules:
  //     - {name: high_memory_overhead, condition: h2d_time / total_time > 0.3, suggestion: Use pinned memory, confidence_weight: 1.2}
  RuleSpec brief_rule(const YamlTree& item) const {
    check_keys(item, "a rule", {"name", "scope", "condition", "severity", "message", "suggestion", "suggestions", "confidence_weight"});
    RuleSpec spec = named(item);
    const std::string what = fmt::format("the rule '{}'", spec.name);
    if (const YamlTree* value = find(item, "scope")) spec.scope = word<RuleScope>(*value, "scope");
    spec.condition = text(need(item, what, "condition", "an expression, such as h2d_time / total_time > 0.3"), "'condition'");
    if (const YamlTree* value = find(item, "confidence_weight"))
      spec.condition_weight = number<double>(*value, "confidence_weight", 0.001, kHeaviest);
    const YamlTree* severity = find(item, "severity");
    spec.severity = severity ? severities(*severity) : std::vector<RuleSeverity>{{std::nullopt, Severity::kMedium}};
    const auto message = optional_text(item, "message");
    spec.message = message ? *message : RuleText{in_words(spec.name) + ": " + spec.condition.text, spec.line, 0};
    if (const YamlTree* list = find(item, "suggestions")) spec.suggestions = suggestions(*list, what);
    else spec.suggestions = {advice(need(item, what, "suggestion", "what to try"), "suggestion")};
    return spec;
  }

  RuleSpec rule(const YamlTree& item) const {
    check_keys(item, "a rule",
               {"name", "scope", "where", "condition", "severity", "message", "plain", "action", "evidence", "suggestions", "gain",
                "gain_note", "predict", "limit", "about", "cause"});
    RuleSpec spec = named(item);
    const std::string what = fmt::format("the rule '{}'", spec.name);
    spec.scope = word<RuleScope>(need(item, what, "scope", "one of: run, stage, kernel, operator"), "scope");
    spec.where = optional_text(item, "where");
    spec.condition = text(need(item, what, "condition", "an expression, such as h2d_time / total_time > 0.3"), "'condition'");
    spec.severity = severities(need(item, what, "severity", "one of: info, low, medium, high"));
    spec.message = text(need(item, what, "message", "one sentence; {field} puts a value into it"), "'message'");
    if (const YamlTree* value = find(item, "plain")) spec.plain = first_of(*value, "plain");
    if (const YamlTree* value = find(item, "action")) spec.action = first_of(*value, "action");
    if (const YamlTree* list = find(item, "evidence")) spec.evidence = evidence(*list);
    spec.suggestions = suggestions(need(item, what, "suggestions", "at least two things to try"), what);
    spec.gain = optional_text(item, "gain");
    spec.gain_note = optional_text(item, "gain_note");
    if (const YamlTree* value = find(item, "predict")) spec.predict = advices(*value, "predict");
    if (const YamlTree* value = find(item, "about")) spec.about = word<RuleAbout>(*value, "about");
    if (const YamlTree* value = find(item, "cause")) spec.cause = text(*value, "'cause'");
    if (const YamlTree* value = find(item, "limit")) spec.limit = number<std::uint64_t>(*value, "limit", 1, kMostFindings);
    return spec;
  }

  std::vector<RuleSeverity> severities(const YamlTree& value) const {
    if (value.kind != Kind::kList) return {{std::nullopt, severity_word(value)}};
    std::vector<RuleSeverity> all;
    for (const YamlTree& item : value.items) {
      check_keys(item, "'severity'", {"when", "severity"});
      all.push_back({optional_text(item, "when"), severity_word(need(item, "this entry", "severity", "one of: info, low, medium, high"))});
      const bool last = &item == &value.items.back();
      if (last == all.back().when.has_value())
        refuse(last ? "the last severity must have no 'when'" : "a severity without 'when' must be the last", item.place,
               "the first whose 'when' holds is taken, the last one otherwise");
    }
    if (all.empty()) refuse("'severity' is empty", value.place, "one of: info, low, medium, high");
    return all;
  }

  std::vector<RuleEvidence> evidence(const YamlTree& list) const {
    want(list, Kind::kList, "'evidence'", "a list", "of {when: EXPRESSION, text: SENTENCE, weight: NUMBER, optional: true}");
    std::vector<RuleEvidence> all;
    for (const YamlTree& item : list.items) {
      check_keys(item, "'evidence'", {"when", "text", "weight", "optional"});
      RuleEvidence each{text(need(item, "this evidence", "when", "an expression"), "'when'"),
                        text(need(item, "this evidence", "text", "a sentence for the reports"), "'text'"), 1};
      // A weight of zero is refused: the item would be shown and never count.
      if (const YamlTree* weight = find(item, "weight")) each.weight = number<double>(*weight, "weight", 0.001, kHeaviest);
      if (const YamlTree* optional = find(item, "optional")) each.optional = truth(*optional, "optional");
      all.push_back(std::move(each));
    }
    return all;
  }

  // A sentence, or {when: EXPRESSION, text: SENTENCE}.
  RuleAdvice advice(const YamlTree& item, const std::string& key) const {
    if (item.kind != Kind::kMap) return {text(item, "'" + key + "'")};
    check_keys(item, "'" + key + "'", {"when", "text"});
    return {text(need(item, "this entry", "text", "a sentence for the reports"), "'text'"), optional_text(item, "when")};
  }

  // Sentences of which the first that holds is taken.
  std::vector<RuleAdvice> advices(const YamlTree& value, const std::string& key) const {
    if (value.kind != Kind::kList) return {advice(value, key)};
    std::vector<RuleAdvice> all;
    for (const YamlTree& item : value.items) all.push_back(advice(item, key));
    return all;
  }

  std::vector<RuleAdvice> first_of(const YamlTree& value, const std::string& key) const {
    std::vector<RuleAdvice> all = advices(value, key);
    if (all.empty() || all.back().when)
      refuse(fmt::format("the last '{}' must have no 'when'", key), value.place,
             "the first whose 'when' holds is taken, the last one otherwise");
    return all;
  }

  std::vector<RuleAdvice> suggestions(const YamlTree& list, const std::string& what) const {
    want(list, Kind::kList, "'suggestions'", "a list", "at least two things to try");
    std::vector<RuleAdvice> all;
    for (const YamlTree& item : list.items) all.push_back(advice(item, "suggestions"));
    if (all.size() < 2)
      refuse(fmt::format("{} has {} suggestion{}", what, all.size(), all.size() == 1 ? "" : "s"), list.place,
             "give at least two things to try");
    return all;
  }

  // The very character, where the text stands on one line as it is; else the place where it begins.
  YamlTree::Place place_of(const RuleText& text, std::size_t at) const {
    const YamlTree::Place begin{text.line, text.column};
    if (text.line < 1 || static_cast<std::size_t>(text.line) > lines_.size()) return begin;
    const std::string& line = lines_[static_cast<std::size_t>(text.line) - 1];
    for (const std::size_t column : {text.column - 1, text.column})  // plain, or behind a quote
      if (column < line.size() && line.compare(column, text.text.size(), text.text) == 0)
        return {text.line, static_cast<int>(column + at) + 1};
    return begin;
  }

  void check(const RuleSpec& spec) const {
    const auto compiled = analysis::rules::compile_rule(spec);
    if (compiled.rule) return;
    const auto& [part, text, fault] = compiled.fault;
    const std::string near = text.text.substr(std::min(fault.at, text.text.size()), 30);
    refuse(fmt::format("rule '{}', {}: {}", spec.name, part, fault.what), place_of(text, fault.at),
           !fault.word.empty() ? did_you_mean(fault.word, fault.candidates)
           : near.empty()      ? "at its end; docs/rules.md describes expressions"
                               : fmt::format("near '{}'; docs/rules.md describes expressions", near));
  }

  std::vector<std::string> lines_;
};

}  // namespace

std::vector<ConfFile> shipped_rules() { return ConfFiles::shipped().all_in("rules"); }

Rules load_rules(std::vector<ConfFile> files, const std::vector<std::string>& user_files) {
  for (const auto& file : user_files) files.push_back(file_on_disk(file));
  Rules rules;
  for (const auto& file : files) RulesFile(file).read_into(rules.list);
  return rules;
}

}  // namespace nl::orchestrator
