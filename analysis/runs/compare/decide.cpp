#include "analysis/runs/compare/decide.h"

#include <algorithm>
#include <cmath>

#include "analysis/statistics/bootstrap.h"
#include "analysis/statistics/confidence.h"

namespace nl::analysis {
namespace {

constexpr double kTrendShows = 0.05;
constexpr double kUsual = 0.95;  // of the interval of one side

struct SideValues {
  std::vector<double> a, b;  // sorted: the order in which runs were named must not matter
};

SideValues split(const std::vector<OrderedValue>& values) {
  SideValues sides;
  for (const OrderedValue& each : values) (each.of_b ? sides.b : sides.a).push_back(each.value);
  std::sort(sides.a.begin(), sides.a.end());
  std::sort(sides.b.begin(), sides.b.end());
  return sides;
}

std::optional<CompareEstimate> estimate(const std::vector<double>& values) {
  if (values.empty()) return std::nullopt;
  return CompareEstimate{median_of(values), {}, {}, values.size()};
}

// Sets the medians of both sides. A line that one side did not capture has no values there; one that it captured, and that never happened,
// has zeros.
LineReason set_medians(const SideValues& sides, CompareLine& line) {
  line.a = estimate(sides.a);
  line.b = estimate(sides.b);
  if (!line.a || !line.b) return why_not_captured(line.a.has_value(), line.b.has_value());
  if (sides.a == sides.b) return LineReason::kNoDifference;
  const bool in_a = line.a->median > 0, in_b = line.b->median > 0;
  if (in_a && in_b) line.change = CompareChange{std::log(line.b->median) - std::log(line.a->median), {}, {}, {}};
  if (in_a && !in_b) return LineReason::kOnlyInA;
  if (!in_a && in_b) return LineReason::kOnlyInB;
  return in_a ? LineReason::kDecided : LineReason::kTooNoisy;
}

bool all_positive(const std::vector<OrderedValue>& values) {
  return std::all_of(values.begin(), values.end(), [](const OrderedValue& each) { return each.value > 0; });
}

std::vector<OrderedValue> logs_of(std::vector<OrderedValue> values) {
  for (OrderedValue& each : values) each.value = std::log(each.value);
  return values;
}

// The interval holds the median, which is what is shown: the method's own middle may lie beside it.
void set_interval(const Interval& logs, CompareEstimate& side) {
  side.low = std::min(side.median, std::exp(logs.low));
  side.high = std::max(side.median, std::exp(logs.high));
}

Interval around(const Interval& interval, double point) { return {std::min(interval.low, point), std::max(interval.high, point)}; }

CompareVerdict by_direction(const CompareLine& line, bool more) {
  if (line.better == Better::kNeither) return CompareVerdict::kUndecidable;
  return (line.better == Better::kHigher) == more ? CompareVerdict::kImproved : CompareVerdict::kRegressed;
}

void conclude(CompareVerdict verdict, LineReason reason, CompareLine& line) {
  line.verdict = verdict;
  line.reason = reason;
}

// How many of the lines are told as changed where each has its share of the 5 %: the step of Benjamini and Hochberg.
std::size_t told(std::vector<double> p_values, double level) {
  std::sort(p_values.begin(), p_values.end());
  for (std::size_t count = p_values.size(); count > 0; --count)
    if (p_values[count - 1] <= level * static_cast<double>(count) / static_cast<double>(p_values.size())) return count;
  return 0;
}

}  // namespace

std::optional<double> Judge::p_value(const std::vector<OrderedValue>& values) const {
  if (!all_positive(values)) return std::nullopt;
  const auto effect = effect_of(logs_of(values), wander_);
  return effect ? std::optional(effect->p_value()) : std::nullopt;
}

LineTest Judge::measure(CompareLine line, std::vector<OrderedValue> values) const {
  LineTest test;
  const SideValues sides = split(values);
  line.reason = set_medians(sides, line);
  test.line = std::move(line);
  if (!test.line.change || !all_positive(values)) return test;
  test.effect = effect_of(logs_of(values), wander_);
  set_interval(level_of(sides.a, wander_).interval(kUsual), *test.line.a);
  set_interval(level_of(sides.b, wander_).interval(kUsual), *test.line.b);
  test.line.p_value = test.effect->p_value();
  return test;
}

LineTest Judge::measure_windows(CompareLine line, const std::vector<double>& a, const std::vector<double>& b) const {
  LineTest test;
  line.reason = set_medians({a, b}, line);
  test.line = std::move(line);
  const auto positive = [](double value) { return value > 0; };
  if (!test.line.change || !std::all_of(a.begin(), a.end(), positive) || !std::all_of(b.begin(), b.end(), positive)) return test;
  test.effect = effect_of_windows(a, b, wander_, options_.seed);
  set_interval(level_of_windows(a, wander_, options_.seed).interval(kUsual), *test.line.a);
  set_interval(level_of_windows(b, wander_, options_.seed).interval(kUsual), *test.line.b);
  test.line.p_value = test.effect->p_value();
  return test;
}

CompareLine Judge::glance(CompareLine line, const std::vector<OrderedValue>& values, LineReason why) {
  line.reason = set_medians(split(values), line);
  if (!line.a || !line.b) return line;
  const bool same = line.reason == LineReason::kNoDifference;
  conclude(same ? CompareVerdict::kUnchanged : CompareVerdict::kUndecidable, same ? line.reason : why, line);
  return line;
}

double Judge::least_effect() const { return std::log1p(options_.minimum_effect); }

LineReason Judge::why_undecided(const LineTest& test, double confidence) const {
  Effect plain = *test.effect;
  plain.error = plain.plain_error;
  plain.difference = test.line.change->log_ratio;
  if (plain.assumed_drift && decision_of(plain.interval(confidence), least_effect()) != Decision::kUndecided)
    return plain.trend_p < kTrendShows ? LineReason::kDrift : LineReason::kBlockOrder;
  if (is_real(test.line)) return LineReason::kAtMinimum;
  return sides_.one_each() ? LineReason::kFewRuns : LineReason::kTooNoisy;
}

// The one place that makes a verdict: of the interval alone.
void Judge::decide(LineTest& test, double confidence) const {
  CompareLine& line = test.line;
  switch (line.reason) {
    case LineReason::kNoDifference: line.verdict = CompareVerdict::kUnchanged; return;
    case LineReason::kOnlyInA: line.verdict = by_direction(line, false); return;
    case LineReason::kOnlyInB: line.verdict = by_direction(line, true); return;
    case LineReason::kDecided: break;
    default: line.verdict = CompareVerdict::kUndecidable; return;
  }
  if (!test.effect) return conclude(CompareVerdict::kUndecidable, LineReason::kTooNoisy, line);
  const Interval interval = around(test.effect->interval(confidence), line.change->log_ratio);
  line.change->low = interval.low;
  line.change->high = interval.high;
  line.change->confidence = confidence;
  const Decision decision = decision_of(interval, least_effect());
  if (decision == Decision::kUnchanged) return conclude(CompareVerdict::kUnchanged, LineReason::kBelowMinimum, line);
  if (decision != Decision::kUndecided)
    return conclude(by_direction(line, decision == Decision::kMore),
                    line.better == Better::kNeither ? LineReason::kNoDirection : LineReason::kDecided, line);
  conclude(CompareVerdict::kUndecidable, why_undecided(test, confidence), line);
  line.runs_to_decide = runs_to_decide(*test.effect, std::min(sides_.a.size(), sides_.b.size()), least_effect(), confidence);
}

void Judge::decide(std::vector<LineTest>& tests, double families) const {
  std::vector<double> p_values, beyond;
  for (const LineTest& test : tests) {
    if (test.line.p_value) p_values.push_back(*test.line.p_value);
    if (test.effect) beyond.push_back(test.effect->p_value(least_effect()));
  }
  const double level = options_.significance / families;
  const double share =
      static_cast<double>(std::max<std::size_t>(1, told(beyond, level))) / static_cast<double>(std::max<std::size_t>(1, beyond.size()));
  const std::vector<double> q = q_values(std::move(p_values));
  auto next = q.begin();
  for (LineTest& test : tests) {
    if (test.line.p_value) test.line.q_value = std::min(1.0, families * *next++);
    decide(test, 1 - level * share);
  }
}

}  // namespace nl::analysis
