#include <algorithm>
#include <utility>

#include "cli/exit_status.h"
#include "cli/json_output.h"
#include "cli/verbs.h"
#include "model/comparison.h"
#include "model/error_code.h"
#include "model/visible_text.h"
#include "orchestrator/config/knowledge.h"
#include "orchestrator/config/nearest.h"
#include "orchestrator/explain.h"

// explain: what a rule, a metric, a term, a field of rules or a setting is.
namespace nl::cli {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t kMostNearNames = 4;

std::string basis_word(MetricBasis basis) {
  switch (basis) {
    case MetricBasis::kTraced: return "the traced run";
    case MetricBasis::kUnprofiled: return "unprofiled runs";
    case MetricBasis::kEnergyPass: return "the passes in which NVML was read";
  }
  return "";
}

std::string metric_unit_text(const RunMetricInfo& info) {
  switch (info.unit) {
    case FigureUnit::kShare: return "share, 0 to 1";
    case FigureUnit::kUtilisation: return "share of the peak, 1 is the peak";
    case FigureUnit::kCount: return "count";
    default: return std::string(key_of(info.unit));
  }
}

// Every figure is in these three; where else, its row says.
std::vector<std::string> places_of_metric(const RunMetricInfo& info) {
  std::vector<std::string> places{"gate", "ls --metric", "trends"};
  if (!info.uses.summary.empty()) places.push_back(fmt::format("run.json /summary/{}", info.key));
  if (!info.uses.compare.empty()) places.emplace_back("compare");
  if (!info.uses.rule.empty()) places.push_back(fmt::format("rules as {}", info.uses.rule));
  if (info.uses.expected) places.emplace_back("new files of expectations");
  return places;
}

// JSON

ordered_json rule_text_json(const std::optional<RuleText>& text) {
  return text && !text->text.empty() ? ordered_json(text->text) : ordered_json();
}

ordered_json advice_json(const std::vector<RuleAdvice>& list) {
  auto out = ordered_json::array();
  for (const RuleAdvice& each : list) out.push_back({{"when", rule_text_json(each.when)}, {"text", each.text.text}});
  return out;
}

ordered_json rule_field_json(const orchestrator::ExplainedField& each) {
  const auto unit = analysis::rules::unit_word(each.field->unit);
  return {{"name", each.field->name},
          {"scope", key_of(each.scope)},
          {"unit", unit},
          {"needs", key_of(each.field->capture)},
          {"help", each.field->help}};
}

ordered_json rule_fields_json(const std::vector<orchestrator::ExplainedField>& fields) {
  auto out = ordered_json::array();
  for (const orchestrator::ExplainedField& each : fields) out.push_back(rule_field_json(each));
  return out;
}

ordered_json explained_rule_json(const orchestrator::ExplainedRule& each) {
  const RuleSpec& rule = *each.spec;
  ordered_json out = {{"name", rule.name},
                      {"file", rule.file},
                      {"line", rule.line},
                      {"scope", key_of(rule.scope)},
                      {"about", key_of(rule.about)},
                      {"cause", rule_text_json(rule.cause)},
                      {"where", rule_text_json(rule.where)},
                      {"condition", rule.condition.text}};
  out["severity"] = ordered_json::array();
  for (const RuleSeverity& severity : rule.severity)
    out["severity"].push_back({{"when", rule_text_json(severity.when)}, {"severity", key_of(severity.severity)}});
  out["message"] = rule.message.text;
  out["action"] = advice_json(rule.action);
  out["fix"] = advice_json(rule.suggestions);
  out["evidence"] = ordered_json::array();
  for (const RuleEvidence& evidence : rule.evidence)
    out["evidence"].push_back({{"when", rule_text_json(evidence.when)},
                               {"text", evidence.text.text},
                               {"weight", evidence.weight},
                               {"optional", evidence.optional}});
  out["predict"] = advice_json(rule.predict);
  out["gain"] = rule_text_json(rule.gain);
  out["gain_note"] = rule_text_json(rule.gain_note);
  out["fields"] = rule_fields_json(each.fields);
  return out;
}

ordered_json glossary_json(const GlossaryEntry& entry) {
  const auto or_null = [](std::string_view text) { return text.empty() ? ordered_json() : ordered_json(text); };
  return {{"term", entry.term},          {"text", entry.sentence},          {"formula", or_null(entry.formula)},
          {"unit", or_null(entry.unit)}, {"source", or_null(entry.source)}, {"names", or_null(entry.names)}};
}

ordered_json explained_metric_json(const RunMetricInfo& info) {
  return {
      {"key", key_pattern(info)},      {"title", info.title},          {"help", info.help},           {"unit", metric_unit_text(info)},
      {"better", key_of(info.better)}, {"of", basis_word(info.basis)}, {"needs", key_of(info.needs)}, {"shown_in", places_of_metric(info)}};
}

ordered_json explanation_json(const std::string& name, const orchestrator::Explanation& found) {
  ordered_json out = {{"name", name}};
  for (const char* part : {"rules", "metrics", "terms", "fields", "settings", "codes"}) out[part] = ordered_json::array();
  for (const auto& rule : found.rules) out["rules"].push_back(explained_rule_json(rule));
  for (const auto* metric : found.metrics) out["metrics"].push_back(explained_metric_json(*metric));
  for (const auto* term : found.terms) out["terms"].push_back(glossary_json(*term));
  out["fields"] = rule_fields_json(found.fields);
  for (const auto* key : found.settings)
    out["settings"].push_back(
        {{"key", key->path}, {"type", orchestrator::config_type_name(*key)}, {"allowed", key->allowed}, {"help", key->help}});
  for (const auto* each : found.codes)
    out["codes"].push_back(
        {{"code", each->key}, {"kind", key_of(each->kind)}, {"meaning", each->meaning}, {"exit_status", exit_status_of(each->kind)}});
  return out;
}

// Text: lines of a title and what it says.

class ExplainLines {
 public:
  explicit ExplainLines(std::size_t width) : width_(width) {}

  void head(const std::string& text) { out_ += (out_.empty() ? "" : "\n") + wrapped(text, width_, 0, 0) + "\n"; }
  void add(std::string_view title, const std::string& text) {
    if (!text.empty()) out_ += fmt::format("  {:<{}}{}\n", title, kText - 2, wrapped(text, width_, kText, kText));
  }
  void add(std::string_view title, const std::optional<RuleText>& text) {
    if (text) add(title, text->text);
  }
  // The title once, then each below the other.
  void add(std::string_view title, const std::vector<RuleAdvice>& list, const char* before = "") {
    for (const RuleAdvice& each : list)
      add(std::exchange(title, ""), before + each.text.text + (each.when ? " (where " + each.when->text + ")" : ""));
  }
  const std::string& text() const { return out_; }

 private:
  static constexpr std::size_t kText = 15;

  std::size_t width_;
  std::string out_;
};

std::string severity_text(const RuleSpec& rule) {
  std::string text;
  for (const RuleSeverity& each : rule.severity) {
    const bool first = text.empty();
    text += (first ? "" : "; ") + std::string(key_of(each.severity));
    if (each.when) text += " where " + each.when->text;
    else if (!first) text += " elsewhere";
  }
  return text;
}

std::string field_text(const orchestrator::ExplainedField& each) {
  return fmt::format("{}: {} ({}, of a {})", each.field->name, each.field->help, analysis::rules::unit_word(each.field->unit),
                     key_of(each.scope));
}

void add_rule(ExplainLines& lines, const orchestrator::ExplainedRule& each) {
  const RuleSpec& rule = *each.spec;
  lines.head(fmt::format("{}: a rule, of each {} ({}:{})", rule.name, key_of(rule.scope), rule.file, rule.line));
  lines.add("says", rule.message.text);
  lines.add("looks at", rule.where);
  lines.add("condition", rule.condition.text);
  lines.add("severity", severity_text(rule));
  lines.add("action", rule.action);
  lines.add("fix", rule.suggestions);
  lines.add("predicts", rule.predict, "nl-stage whatif RUN ");
  lines.add("saves", rule.gain);
  lines.add("assumes", rule.gain_note);
  std::string_view title = "fields";
  for (const orchestrator::ExplainedField& field : each.fields) lines.add(std::exchange(title, ""), field_text(field));
}

void add_metric(ExplainLines& lines, const RunMetricInfo& info) {
  lines.head(fmt::format("{}: a metric, {}", key_pattern(info), info.title));
  lines.add("is", std::string(info.help));
  lines.add("unit", metric_unit_text(info));
  lines.add("better", std::string(key_of(info.better)));
  lines.add("of", basis_word(info.basis));
  lines.add("needs", info.needs == CaptureNeed::kAlways ? "" : std::string(key_of(info.needs)));
  lines.add("shown in", fmt::format("{}", fmt::join(places_of_metric(info), ", ")));
}

void add_term(ExplainLines& lines, const GlossaryEntry& entry) {
  lines.head(fmt::format("{}: a term", entry.term));
  lines.add("is", std::string(entry.sentence));
  lines.add("formula", std::string(entry.formula));
  lines.add("unit", std::string(entry.unit));
  lines.add("from", std::string(entry.source));
  std::string names(entry.names);
  for (std::size_t at = 0; (at = names.find('|', at)) != std::string::npos;) names.replace(at, 1, ", ");
  lines.add("also called", names);
}

std::string explanation_text(const orchestrator::Explanation& found, std::size_t width) {
  ExplainLines lines(width);
  for (const auto& rule : found.rules) add_rule(lines, rule);
  for (const auto* metric : found.metrics) add_metric(lines, *metric);
  for (const auto* term : found.terms) add_term(lines, *term);
  for (const auto& field : found.fields) {
    lines.head(fmt::format("{}: a field of rules, of a {}", field.field->name, key_of(field.scope)));
    lines.add("is", std::string(field.field->help));
    lines.add("unit", std::string(analysis::rules::unit_word(field.field->unit)));
    lines.add("needs", field.field->capture == CaptureNeed::kAlways ? "" : std::string(key_of(field.field->capture)));
  }
  for (const auto* key : found.settings) {
    lines.head(fmt::format("{}: a setting, {}", key->path, orchestrator::config_type_name(*key)));
    lines.add("is", std::string(key->help));
    lines.add("allowed", fmt::format("{}", fmt::join(key->allowed, ", ")));
  }
  for (const auto* each : found.codes) {
    lines.head(fmt::format("{}: a code of errors, kind {}", each->key, key_of(each->kind)));
    lines.add("is", std::string(each->meaning));
    lines.add("exit status", std::to_string(exit_status_of(each->kind)));
  }
  return lines.text();
}

CodedError unknown_term(const std::string& name, const Rules& rules) {
  const auto names = orchestrator::explained_names(rules);
  const auto near = orchestrator::nearest_names(name, names, kMostNearNames);
  return {ErrorCode::kUnknownTerm, fmt::format("nothing is called '{}'", name), "explain",
          near.empty() ? "`nl-stage help glossary` has the terms"
                       : fmt::format("nearest: {}; `nl-stage help glossary` has the terms", fmt::join(near, ", "))};
}

struct ExplainFlags {
  std::vector<std::string> words, rules;
  bool json = false;
};

int explain_name(const ExplainFlags& flags) {
  const std::string name = fmt::format("{}", fmt::join(flags.words, " "));
  const Rules rules = orchestrator::load_rules(orchestrator::shipped_rules(), flags.rules);
  const orchestrator::Explanation found = orchestrator::explain(name, rules);
  if (found.empty()) throw unknown_term(name, rules);
  if (flags.json) write_json(explanation_json(name, found));
  else write_text(explanation_text(found, line_width()));
  return 0;
}

}  // namespace

void add_explain(CLI::App& app, std::function<int()>& action) {
  auto flags = std::make_shared<ExplainFlags>();
  CLI::App* verb = app.add_subcommand("explain", "Explain a rule, a metric, a term of the reports, a setting or a code of errors");
  verb->add_option("name", flags->words, "of a rule, a metric, a term, a field of rules or a setting; a term may have several words")
      ->required()
      ->type_name("RULE|METRIC|TERM");
  verb->add_option("--rules", flags->rules, "file with more rules; repeatable")->allow_extra_args(false)->type_name("FILE");
  verb->add_flag("--json", flags->json, "print {name, rules, metrics, terms, fields, settings, codes}: all that goes by this name");
  verb->footer(
      "Examples:\n"
      "  nl-stage explain launch_bound_decode\n"
      "  nl-stage explain tpot_ms\n"
      "  nl-stage explain launch-starved --json\n"
      "  nl-stage explain run.top_n_kernels\n"
      "The exit status is 2 if nothing goes by this name; the nearest names are told.");
  verb->callback([flags, &action] { action = [flags] { return explain_name(*flags); }; });
}

}  // namespace nl::cli
