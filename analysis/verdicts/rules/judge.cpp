#include "analysis/verdicts/rules/judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "analysis/verdicts/rules/compile.h"
#include "analysis/verdicts/rules/fields.h"
#include "analysis/verdicts/rules/worth.h"
#include "model/error.h"
#include "model/headline.h"
#include "model/run_metrics.h"

namespace nl::analysis {
namespace rules {
namespace {

constexpr double kDoubt = 1;  // one part of it always remains

struct Candidate {
  Finding finding;
  double weight = 0;  // of the subject: its time
};

void look_up(const Subject& subject, Place place, FindingEvidence& evidence) {
  evidence.reference = pointer_to(subject, place);
  const StageActivity* activity = place == Place::kGap ? subject.activity() : nullptr;
  if (activity && activity->longest_gap_ns > 0) {
    evidence.window_start_ns = activity->longest_gap_at_ns;
    evidence.window_end_ns = activity->longest_gap_at_ns + activity->longest_gap_ns;
  } else if (subject.scope == RuleScope::kStage && subject.stage().longest_window_end_ns > subject.stage().longest_window_start_ns) {
    evidence.window_start_ns = subject.stage().longest_window_start_ns;
    evidence.window_end_ns = subject.stage().longest_window_end_ns;
  }
}

// The weight of what held, of all that was asked for: the more pieces, the surer. The condition is the first of them, and it
// holds. Not captured counts as not held, unless the rule can do without it.
double confidence_in(const CompiledRule& rule, const Subject& subject, std::vector<FindingEvidence>& out) {
  double held = rule.spec->condition_weight, all = held + kDoubt;
  for (const CompiledEvidence& each : rule.evidence) {
    MissingSet missing;
    const Value value = each.when.evaluate(subject, missing);
    if (!value.known && each.optional) continue;
    FindingEvidence evidence;
    evidence.known = value.known;
    evidence.held = value.known && value.truth;
    evidence.text = each.text.text(subject);
    if (!value.known)
      evidence.text = missing.empty() ? "no value: " + evidence.text
                                      : fmt::format("not checked ({} not captured): {}", missing_names(missing), evidence.text);
    look_up(subject, each.when.place(), evidence);
    out.push_back(std::move(evidence));
    all += each.weight;
    if (value.known && value.truth) held += each.weight;
  }
  return held / all;
}

// A condition on something that was not captured does not hold: a rule gives no advice about what was not measured.
bool holds(const std::optional<Expression>& when, const Subject& subject) {
  MissingSet ignored;
  if (!when) return true;
  const Value value = when->evaluate(subject, ignored);
  return value.known && value.truth;
}

Severity severity_of(const CompiledRule& rule, const Subject& subject) {
  for (const auto& [when, severity] : rule.severity)
    if (holds(when, subject)) return severity;
  return Severity::kInfo;
}

const Sentence* first_that_holds(const std::vector<CompiledAdvice>& texts, const Subject& subject) {
  const auto found = std::find_if(texts.begin(), texts.end(), [&](const auto& each) { return holds(each.when, subject); });
  return found != texts.end() ? &found->text : nullptr;
}

std::string advice(const std::vector<CompiledAdvice>& texts, const Subject& subject) {
  const Sentence* text = first_that_holds(texts, subject);
  return text != nullptr ? text->text(subject) : "";
}

// The change whose worth is predicted; empty: none, or one with a figure in it that was not captured.
std::string change_to_predict(const CompiledRule& rule, const Subject& subject) {
  const Sentence* text = first_that_holds(rule.predict, subject);
  return text != nullptr && text->known(subject) ? text->text(subject) : "";
}

Candidate make(const CompiledRule& rule, const Subject& subject, const PredictChange& predict) {
  Candidate candidate;
  Finding& finding = candidate.finding;
  finding.rule = rule.spec->name;
  finding.scope = subject.scope;
  finding.subject = subject.name();
  finding.about = rule.spec->about;
  finding.cause = rule.cause.text(subject);
  finding.message = rule.message.text(subject);
  finding.plain = advice(rule.plain, subject);
  finding.action = advice(rule.action, subject);
  finding.confidence = confidence_in(rule, subject, finding.evidence);
  if (finding.evidence.empty()) {
    FindingEvidence evidence;
    evidence.text = "condition: " + rule.spec->condition.text;
    look_up(subject, rule.condition.place(), evidence);
    finding.evidence.push_back(std::move(evidence));
  }
  for (const CompiledAdvice& each : rule.suggestions)
    if (holds(each.when, subject)) finding.suggestions.push_back(each.text.text(subject));
  expect_gain(rule, subject, finding);
  if (const std::string change = change_to_predict(rule, subject); predict && !change.empty())
    if (const auto prediction = predict(predicted_stage(subject), change)) use_prediction(*prediction, subject, finding);
  finding.severity = fitting_severity(severity_of(rule, subject), finding);
  candidate.weight = static_cast<double>(subject.time_ns().value_or(0));
  return candidate;
}

// The capture without which a scope has no subjects; nothing where it has some, or where there was nothing to find.
std::optional<Expression::Missing> scope_missing(const Run& run, RuleScope scope) {
  if (scope == RuleScope::kStage && run.stages.empty()) return Expression::Missing{"stages", Capture::kStages};
  if (scope == RuleScope::kKernel && !run.kernels) return Expression::Missing{"kernels", Capture::kCuda};
  if (scope == RuleScope::kOperator && run.operators.empty()) return Expression::Missing{"operators", Capture::kOperators};
  return std::nullopt;
}

// Only model files that a backend runs have nodes: no other capture of the same workload would find any.
bool asks_of_nodes(const CompiledRule& rule) {
  return rule.condition.place() == Place::kNodes || (rule.where && rule.where->place() == Place::kNodes);
}

Abstention abstention_of(const RuleSpec& spec, const MissingSet& missing, const Run& run) {
  Abstention abstention;
  abstention.rule = spec.name;
  abstention.scope = spec.scope;
  std::set<Capture> captures;
  for (const auto& each : missing) {
    abstention.missing.push_back(each.name);
    captures.insert(each.capture);
  }
  abstention.why = capture_reason(captures, run);
  abstention.command = capture_command(captures, run);
  return abstention;
}

void judge_rule(const CompiledRule& rule, const std::vector<Subject>& subjects, const Run& run, const PredictChange& predict,
                Judgement& judgement) {
  std::vector<Candidate> fired;
  std::set<MissingSet> undecided;
  bool decided = false;
  for (const Subject& subject : subjects) {
    MissingSet missing;
    Value value = rule.where ? rule.where->evaluate(subject, missing) : Value::of_truth(true);
    if (value.known && !value.truth) continue;
    if (value.known) value = rule.condition.evaluate(subject, missing);
    decided = decided || value.known;
    if (value.known && value.truth) fired.push_back(make(rule, subject, predict));
    if (value.known || missing.empty()) continue;
    std::sort(missing.begin(), missing.end());
    missing.erase(std::unique(missing.begin(), missing.end()), missing.end());
    undecided.insert(std::move(missing));
  }
  const auto rank = [](const Candidate& each) { return std::tuple(-each.finding.gain_ns.value_or(0), -each.weight); };
  std::stable_sort(fired.begin(), fired.end(), [&](const auto& a, const auto& b) { return rank(a) < rank(b); });
  for (std::size_t i = 0; i < fired.size() && i < rule.spec->limit; ++i) judgement.findings.push_back(std::move(fired[i].finding));
  if (decided) return;
  if (const auto missing = scope_missing(run, rule.spec->scope); missing && !asks_of_nodes(rule)) undecided.insert({*missing});
  for (const auto& missing : undecided) judgement.abstentions.push_back(abstention_of(*rule.spec, missing, run));
}

CompiledRule compiled(const RuleSpec& spec) {
  auto result = compile_rule(spec);
  if (!result.rule)
    throw Error(ErrorKind::kConfig, fmt::format("rule {}, {}: {}", spec.name, result.fault.part, result.fault.fault.what), spec.file);
  return std::move(*result.rule);
}

}  // namespace
}  // namespace rules

ParsedRules::ParsedRules(const Rules& rules) {
  for (const RuleSpec& spec : rules.list) list_.push_back(rules::compiled(spec));
}

ParsedRules::~ParsedRules() = default;

Judgement judge(const ParsedRules& rules, const Run& run, const PredictChange& predict) {
  Judgement judgement;
  const rules::RunTotals totals = rules::total(run);
  std::vector<rules::Subject> subjects[4];
  for (const RuleScope scope : {RuleScope::kRun, RuleScope::kStage, RuleScope::kKernel, RuleScope::kOperator})
    subjects[static_cast<int>(scope)] = rules::subjects_of(run, totals, scope);
  for (const rules::CompiledRule& rule : rules.list())
    rules::judge_rule(rule, subjects[static_cast<int>(rule.spec->scope)], run, predict, judgement);
  rules::sort_by_worth(judgement.findings);
  return judgement;
}

Judgement judge(const Rules& rules, const Run& run, const PredictChange& predict) { return judge(ParsedRules(rules), run, predict); }

RunSummary run_summary(const Run& run) {
  RunSummary out;
  for (const RunMetricInfo& info : run_metric_table())
    if (!info.uses.summary.empty()) out.figures[info.key] = figure_value(info, {run});
  const auto findings = findings_to_work_on(run);
  if (!findings.empty()) out.top_finding = findings.front()->rule;
  return out;
}

}  // namespace nl::analysis
