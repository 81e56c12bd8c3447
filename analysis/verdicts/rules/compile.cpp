#include "analysis/verdicts/rules/compile.h"

namespace nl::analysis::rules {
namespace {

Expression expression(const RuleText& text, RuleScope scope, Type type, const char* part) {
  auto parsed = parse_expression(text.text, scope);
  if (!parsed.expression) throw RuleFault{part, text, std::move(parsed.fault)};
  if (parsed.expression->type() != type)
    throw RuleFault{
        part, text, {type == Type::kTruth ? "this is never true or false; compare it with something" : "this is not a number", 0, {}, {}}};
  return std::move(*parsed.expression);
}

Sentence sentence(const RuleText& text, RuleScope scope, const char* part) {
  auto parsed = Sentence::parse(text.text, scope);
  if (!parsed.sentence) throw RuleFault{part, text, std::move(parsed.fault)};
  return std::move(*parsed.sentence);
}

std::vector<CompiledAdvice> advice(const std::vector<RuleAdvice>& list, RuleScope scope, const char* part) {
  std::vector<CompiledAdvice> all;
  for (const RuleAdvice& each : list) {
    all.push_back({std::nullopt, sentence(each.text, scope, part)});
    if (each.when) all.back().when = expression(*each.when, scope, Type::kTruth, part);
  }
  return all;
}

CompiledRule compile(const RuleSpec& spec) {
  CompiledRule rule;
  rule.spec = &spec;
  if (spec.where) rule.where = expression(*spec.where, spec.scope, Type::kTruth, "where");
  rule.condition = expression(spec.condition, spec.scope, Type::kTruth, "condition");
  for (const RuleSeverity& each : spec.severity) {
    rule.severity.emplace_back(std::nullopt, each.severity);
    if (each.when) rule.severity.back().first = expression(*each.when, spec.scope, Type::kTruth, "severity");
  }
  rule.message = sentence(spec.message, spec.scope, "message");
  rule.plain = advice(spec.plain, spec.scope, "plain");
  rule.action = advice(spec.action, spec.scope, "action");
  for (const RuleEvidence& each : spec.evidence)
    rule.evidence.push_back({expression(each.when, spec.scope, Type::kTruth, "evidence"), sentence(each.text, spec.scope, "evidence"),
                             each.weight, each.optional});
  rule.suggestions = advice(spec.suggestions, spec.scope, "suggestions");
  if (spec.gain) rule.gain = expression(*spec.gain, spec.scope, Type::kNumber, "gain");
  if (spec.gain_note) rule.gain_note = sentence(*spec.gain_note, spec.scope, "gain_note");
  return rule;
}

}  // namespace

Compiled compile_rule(const RuleSpec& spec) {
  try {
    return {compile(spec), {}};
  } catch (RuleFault& fault) {
    return {std::nullopt, std::move(fault)};
  }
}

}  // namespace nl::analysis::rules
