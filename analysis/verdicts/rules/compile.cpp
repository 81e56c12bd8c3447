#include "analysis/verdicts/rules/compile.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "analysis/replay/change_text.h"
#include "model/error.h"
#include "model/visible_text.h"

namespace nl::analysis::rules {
namespace {

std::string count_text(double value) {
  if (std::abs(value) >= 1e15) return fmt::format("{:.3g}", value);
  if (value != std::floor(value)) return std::abs(value) < 100 ? fmt::format("{:.1f}", value) : count_text(std::round(value));
  return with_commas(fmt::format("{:.0f}", value == 0 ? 0 : value));  // no -0
}

std::string number_text(double value, Unit unit) {
  switch (unit) {
    case Unit::kShare: return fmt::format("{:.{}f} %", value * 100, std::abs(value) < 0.0995 && value != 0 ? 1 : 0);
    case Unit::kTime: return short_time(value);
    case Unit::kBytes: return with_prefix(value, "B");
    case Unit::kFlops: return with_prefix(value, "FLOP");
    case Unit::kFlopsPerS: return with_prefix(value, "FLOP/s");
    case Unit::kCount: return count_text(value);
    case Unit::kMegahertz:
    case Unit::kWatts:
    case Unit::kCelsius: return fmt::format("{:.0f} {}", value, unit_word(unit));
    case Unit::kJoules: return three_digits(value) + " J";
    case Unit::kNumber:
    case Unit::kWords: break;
  }
  return three_digits(value);
}

std::optional<Unit> named_unit(std::string_view word) {
  static constexpr std::pair<std::string_view, Unit> kNames[] = {
      {"percent", Unit::kShare}, {"time", Unit::kTime}, {"bytes", Unit::kBytes}, {"count", Unit::kCount}, {"number", Unit::kNumber}};
  for (const auto& [name, unit] : kNames)
    if (name == word) return unit;
  return std::nullopt;
}

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

// "--graph {name}": its flag is one that stands for a change. Where nothing is filled in, the rest is checked, too.
void check_change(const RuleText& text) {
  const std::string_view flag = std::string_view(text.text).substr(0, text.text.find(' '));
  const std::vector<std::string_view>& known = change_flags();
  if (std::find(known.begin(), known.end(), flag) == known.end())
    throw RuleFault{"predict", text, {fmt::format("'{}' is no change of `nl-stage whatif`", flag), 0, {}, {}}};
  if (text.text.find('{') != std::string::npos) return;
  try {
    change_of(text.text);
  } catch (const Error& wrong) {
    throw RuleFault{"predict", text, {wrong.message, 0, {}, {}}};
  }
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
  rule.cause = sentence(spec.cause, spec.scope, "cause");
  rule.message = sentence(spec.message, spec.scope, "message");
  rule.plain = advice(spec.plain, spec.scope, "plain");
  rule.action = advice(spec.action, spec.scope, "action");
  for (const RuleEvidence& each : spec.evidence)
    rule.evidence.push_back({expression(each.when, spec.scope, Type::kTruth, "evidence"), sentence(each.text, spec.scope, "evidence"),
                             each.weight, each.optional});
  rule.suggestions = advice(spec.suggestions, spec.scope, "suggestions");
  if (spec.gain) rule.gain = expression(*spec.gain, spec.scope, Type::kNumber, "gain");
  if (spec.gain_note) rule.gain_note = sentence(*spec.gain_note, spec.scope, "gain_note");
  for (const RuleAdvice& each : spec.predict) check_change(each.text);
  rule.predict = advice(spec.predict, spec.scope, "predict");
  return rule;
}

}  // namespace

std::string value_text(const Value& value, Type type, Unit unit) {
  if (!value.known) return value.captured ? "no value" : "not captured";
  if (type == Type::kText) return value.text.empty() ? "(no name)" : std::string(value.text);  // a sentence has a subject
  if (type == Type::kTruth) return value.truth ? "yes" : "no";
  return number_text(value.number, unit);
}

Sentence::Parsed Sentence::parse(std::string_view text, RuleScope scope) {
  Sentence sentence;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t open = std::min(text.find('{', at), text.size());
    Piece piece{std::string(text.substr(at, open - at)), {}, Unit::kNumber, {}, {}};
    at = open;
    if (open < text.size()) {
      const std::size_t close = text.find('}', open);
      if (close == std::string_view::npos) return {{}, {"this '{' has no '}'", open, {}, {}}};
      std::string_view inner = text.substr(open + 1, close - open - 1);
      std::optional<Unit> unit;
      const auto colon = inner.rfind(':');
      const std::string_view suffix = colon == std::string_view::npos ? std::string_view() : inner.substr(colon + 1);
      // {copies:copy|copies} is "1 copy" or "3 copies".
      if (const auto bar = suffix.find('|'); bar != std::string_view::npos && suffix.find_first_of("\"'") == std::string_view::npos) {
        piece.one = suffix.substr(0, bar), piece.many = suffix.substr(bar + 1);
        unit = Unit::kCount;
      } else {
        unit = named_unit(suffix);
      }
      if (unit) inner = inner.substr(0, colon);
      auto parsed = parse_expression(inner, scope);
      if (!parsed.expression) {
        parsed.fault.at += open + 1;
        return {{}, std::move(parsed.fault)};
      }
      piece.unit = unit.value_or(parsed.expression->unit());
      piece.expression = std::move(parsed.expression);
      at = close + 1;
    }
    sentence.pieces_.push_back(std::move(piece));
  }
  return {std::move(sentence), {}};
}

std::string Sentence::text(const Subject& subject) const {
  std::string text;
  std::vector<Expression::Missing> ignored;
  for (const Piece& piece : pieces_) {
    text += piece.before;
    if (!piece.expression) continue;
    if (const Field* field = piece.expression->field(); field && field->shown) {
      text += field->shown(subject);
      continue;
    }
    const Value value = piece.expression->evaluate(subject, ignored);
    text += value_text(value, piece.expression->type(), piece.unit);
    if (!piece.many.empty() && value.known) text += " " + (value.number == 1 ? piece.one : piece.many);
  }
  return text;
}

bool Sentence::known(const Subject& subject) const {
  std::vector<Expression::Missing> ignored;
  return std::all_of(pieces_.begin(), pieces_.end(),
                     [&](const Piece& piece) { return !piece.expression || piece.expression->evaluate(subject, ignored).known; });
}

Compiled compile_rule(const RuleSpec& spec) {
  try {
    return {compile(spec), {}};
  } catch (RuleFault& fault) {
    return {std::nullopt, std::move(fault)};
  }
}

}  // namespace nl::analysis::rules
