#include "analysis/runs/compare/decide.h"

#include <algorithm>
#include <cmath>

#include "analysis/statistics/bootstrap.h"
#include "analysis/statistics/confidence.h"

namespace nl::analysis {
namespace {

constexpr std::size_t kResamples = 1000;
constexpr std::size_t kLeastWindows = 8;  // of a single run; the order of fewer windows shows nothing, and is ignored
constexpr double kTrendShows = 0.05;

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

std::vector<OrderedValue> unordered(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<OrderedValue> values;
  for (const double value : a) values.push_back({value, 0, false});
  for (const double value : b) values.push_back({value, 0, true});
  return values;
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
  if (in_a && in_b) line.change = CompareChange{std::log(line.b->median) - std::log(line.a->median), {}, {}};
  if (in_a && !in_b) return LineReason::kOnlyInA;
  if (!in_a && in_b) return LineReason::kOnlyInB;
  return in_a ? LineReason::kDecided : LineReason::kWithinNoise;
}

bool all_positive(const std::vector<OrderedValue>& values) {
  return std::all_of(values.begin(), values.end(), [](const OrderedValue& each) { return each.value > 0; });
}

std::vector<OrderedValue> logs_of(std::vector<OrderedValue> values) {
  for (OrderedValue& each : values) each.value = std::log(each.value);
  return values;
}

std::vector<double> logs_of(std::vector<double> values) {
  for (double& value : values) value = std::log(value);
  return values;
}

// Twice the standard error of the difference of the medians, from the median distance of the values to their side's median.
double noise_floor(const SideValues& sides) {
  std::vector<double> off;
  for (const auto* side : {&sides.a, &sides.b})
    for (const double value : *side) off.push_back(std::abs(std::log(value) - std::log(median_of(*side))));
  const double scatter = 1.4826 * median_of(off);
  return 2 * scatter * std::sqrt(1.0 / static_cast<double>(sides.a.size()) + 1.0 / static_cast<double>(sides.b.size()));
}

// Sets the interval of an estimate or of a change.
template <class Ranged>
void set_interval(std::vector<double> resampled, double tail, Ranged& ranged) {
  const Interval interval = percentile_interval(std::move(resampled), tail);
  ranged.low = interval.low;
  ranged.high = interval.high;
}

// Half the width of the middle 68 %. Swapped sides give exactly the same, which a sum of squares would not.
double standard_error_of(const std::vector<double>& differences) {
  const Interval middle = percentile_interval(differences, 0.158655);
  return (middle.high - middle.low) / 2;
}

// One side's windows, resampled in blocks that are long enough for windows in different blocks to be independent.
struct Resampled {
  double independent = 1;
  std::vector<double> medians;

  Resampled(const std::vector<double>& windows, std::uint64_t seed) {
    const double together = autocorrelation_time(windows);
    independent = static_cast<double>(windows.size()) / together;
    const auto block = static_cast<std::size_t>(std::lround(2 * together));
    medians = bootstrap_medians(windows, std::clamp<std::size_t>(block, 1, windows.size() / 4), kResamples, seed);
  }
};

// How much a run varies within itself: the spread of the medians of its fifths. Two runs differ by at least as much.
double wandering(const std::vector<double>& windows) {
  constexpr std::size_t kParts = 5;
  const auto log_of = [](double wall_ns) { return std::log(std::max(1.0, wall_ns)); };
  std::vector<double> medians;
  for (std::size_t part = 0; part < kParts; ++part)
    medians.push_back(log_of(median_of({windows.begin() + static_cast<std::ptrdiff_t>(windows.size() * part / kParts),
                                        windows.begin() + static_cast<std::ptrdiff_t>(windows.size() * (part + 1) / kParts)})));
  double mean = 0, squares = 0;
  for (const double median : medians) mean += median / kParts;
  for (const double median : medians) squares += (median - mean) * (median - mean);
  return std::sqrt(squares / (kParts - 1));
}

bool excludes_zero(const CompareChange& change) { return change.low && change.high && (*change.low > 0 || *change.high < 0); }

CompareVerdict by_direction(const CompareLine& line, bool more) {
  if (line.better == Better::kNeither) return CompareVerdict::kUndecidable;
  return (line.better == Better::kHigher) == more ? CompareVerdict::kImproved : CompareVerdict::kRegressed;
}

void conclude(CompareVerdict verdict, LineReason reason, CompareLine& line) {
  line.verdict = verdict;
  line.reason = reason;
}

void conclude_change(CompareLine& line) {
  const bool told = line.better != Better::kNeither;
  conclude(by_direction(line, line.change->log_ratio > 0), told ? LineReason::kDecided : LineReason::kNoDirection, line);
}

}  // namespace

Judge::Judge(const Sides& sides, const CompareOptions& options) : sides_(sides), options_(options) {
  const auto runs = static_cast<double>(sides.a.size() + sides.b.size());
  most_degrees_ = std::max(1.0, runs - (sides.trend_can_be_told() ? 3 : 2));
  most_student_ = student_t(0.95, most_degrees_);
}

double Judge::student_95(double degrees_of_freedom) const {
  return degrees_of_freedom == most_degrees_ ? most_student_ : student_t(0.95, degrees_of_freedom);
}

std::optional<double> Judge::p_value(const std::vector<OrderedValue>& values) const {
  const auto effect = side_effect(all_positive(values) ? logs_of(values) : values, sides_.trend_can_be_told());
  return effect ? std::optional(effect->p_value) : std::nullopt;
}

void Judge::set_intervals(const std::vector<double>& a, const std::vector<double>& b, CompareLine& line) const {
  const std::vector<double> of_a = bootstrap_medians(a, 1, kResamples, options_.seed),
                            of_b = bootstrap_medians(b, 1, kResamples, options_.seed);
  const double tail_a = tail_95(static_cast<double>(a.size())),
               tail_b = a.size() == b.size() ? tail_a : tail_95(static_cast<double>(b.size()));
  set_interval(of_a, tail_a, *line.a);
  set_interval(of_b, tail_b, *line.b);
  if (!line.change) return;
  set_interval(paired_differences(logs_of(of_a), logs_of(of_b)), std::min(tail_a, tail_b), *line.change);
}

// Removes the trend: the values become those that all runs would have at the middle of the series.
void Judge::take_trend_out(double trend, std::vector<OrderedValue>& values) const {
  double middle = 0;
  for (const OrderedValue& each : values) middle += each.place;  // halves: exact, in whatever order
  middle /= static_cast<double>(values.size());
  for (OrderedValue& each : values) each.value *= std::exp(-trend * (each.place - middle));
}

LineTest Judge::measure(CompareLine line, std::vector<OrderedValue> values) const {
  LineTest test;
  const bool positive = all_positive(values);
  const auto tested = positive ? logs_of(values) : values;
  const std::optional<SideEffect> plain = side_effect(tested, false);
  const std::optional<SideEffect> ordered = sides_.trend_can_be_told() ? side_effect(tested, true) : std::nullopt;
  if (ordered) test.trend = ordered->trend, test.trend_p = ordered->trend_p_value;
  if (ordered && positive && sides_.order == RunOrder::kInterleaved && test.trend_p < kTrendShows) take_trend_out(test.trend, values);
  const SideValues sides = split(values);
  line.reason = set_medians(sides, line);
  test.line = std::move(line);
  if (!test.line.a || !test.line.b || !plain) return test;
  test.plain_p = plain->p_value;
  set_spread(sides.a, sides.b, ordered ? *ordered : *plain, test);
  if (!positive) test.reach.reset();
  if (positive) test.line.noise_floor = std::expm1(noise_floor(sides));
  return test;
}

void Judge::set_spread(const std::vector<double>& a, const std::vector<double>& b, const SideEffect& effect, LineTest& test) const {
  test.line.p_value = effect.p_value;
  test.reach = student_95(effect.degrees_of_freedom) * effect.standard_error;
  if (a.size() > 1 && b.size() > 1) return set_intervals(a, b, test.line);
  if (!test.line.change) return;
  test.line.change->low = test.line.change->log_ratio - *test.reach;
  test.line.change->high = test.line.change->log_ratio + *test.reach;
}

LineTest Judge::measure_windows(CompareLine line, const std::vector<double>& a, const std::vector<double>& b) const {
  if (std::min(a.size(), b.size()) < kLeastWindows) return measure(std::move(line), unordered(a, b));
  LineTest test;
  line.reason = set_medians({a, b}, line);
  if (line.change) {
    const Resampled of_a(a, options_.seed), of_b(b, options_.seed);
    set_interval(of_a.medians, tail_95(of_a.independent), *line.a);
    set_interval(of_b.medians, tail_95(of_b.independent), *line.b);
    const std::vector<double> differences = paired_differences(logs_of(of_a.medians), logs_of(of_b.medians));
    set_interval(differences, tail_95(std::min(of_a.independent, of_b.independent)), *line.change);
    const double error = standard_error_of(differences), degrees = std::max(1.0, of_a.independent + of_b.independent - 2);
    line.p_value = error > 0 ? student_p(line.change->log_ratio / error, degrees) : line.change->log_ratio == 0 ? 1 : 0;
    line.noise_floor = std::max({options_.one_run_floor, std::expm1(2 * error), std::expm1(2 * std::hypot(wandering(a), wandering(b)))});
  }
  test.plain_p = line.p_value.value_or(1);
  test.line = std::move(line);
  return test;
}

CompareLine Judge::glance(CompareLine line, const std::vector<OrderedValue>& values, LineReason why) {
  line.reason = set_medians(split(values), line);
  if (!line.a || !line.b) return line;
  const bool unchanged = line.reason == LineReason::kNoDifference || why == LineReason::kStageUnchanged;
  conclude(unchanged ? CompareVerdict::kUnchanged : CompareVerdict::kUndecidable,
           line.reason == LineReason::kNoDifference ? line.reason : why, line);
  return line;
}

double Judge::least_effect(const CompareLine& line) const {
  const bool few = sides_.one_each() || sides_.basis == CompareBasis::kFewRuns;
  const double least = few ? std::max(options_.minimum_effect, options_.one_run_floor) : options_.minimum_effect;
  return std::log1p(std::max(least, line.noise_floor.value_or(0)));
}

void Judge::decide_tested(LineTest& test) const {
  CompareLine& line = test.line;
  const double effect = std::abs(line.change->log_ratio);
  const bool large = effect >= least_effect(line);
  if (significant(line) && excludes_zero(*line.change)) {
    if (large) return conclude_change(line);
    return conclude(CompareVerdict::kUnchanged,
                    effect < std::log1p(options_.minimum_effect) ? LineReason::kBelowMinimum : LineReason::kWithinNoise, line);
  }
  if (large && sides_.order == RunOrder::kBlocks && sides_.trend_can_be_told() && test.plain_p <= options_.significance)
    return conclude(CompareVerdict::kUndecidable, test.trend_p < kTrendShows ? LineReason::kDrift : LineReason::kBlockOrder, line);
  const double widest = std::log1p(std::max(options_.widest_interval, options_.minimum_effect));
  const bool wide =
      test.reach ? effect + *test.reach > widest : !line.change->low || std::max(-*line.change->low, *line.change->high) > widest;
  conclude(wide ? CompareVerdict::kUndecidable : CompareVerdict::kUnchanged, wide ? LineReason::kTooNoisy : LineReason::kWithinNoise, line);
}

void Judge::decide(LineTest& test, bool floor_decides) const {
  CompareLine& line = test.line;
  switch (line.reason) {
    case LineReason::kNoDifference:
    case LineReason::kWithinNoise: line.verdict = CompareVerdict::kUnchanged; return;
    case LineReason::kOnlyInA: line.verdict = by_direction(line, false); return;
    case LineReason::kOnlyInB: line.verdict = by_direction(line, true); return;
    case LineReason::kDecided: break;
    default: line.verdict = CompareVerdict::kUndecidable; return;
  }
  if (line.q_value) return decide_tested(test);
  if (!floor_decides) return conclude(CompareVerdict::kUndecidable, LineReason::kFewRuns, line);
  if (std::abs(line.change->log_ratio) >= least_effect(line)) return conclude_change(line);
  conclude(CompareVerdict::kUnchanged, LineReason::kWithinNoise, line);
}

void Judge::decide(std::vector<LineTest>& tests, bool floor_decides, double families) const {
  std::vector<double> p_values;
  for (const LineTest& test : tests)
    if (test.line.p_value) p_values.push_back(*test.line.p_value);
  const std::vector<double> q = q_values(std::move(p_values));
  auto next = q.begin();
  for (LineTest& test : tests) {
    if (test.line.p_value) test.line.q_value = std::min(1.0, families * *next++);
    decide(test, floor_decides);
  }
}

}  // namespace nl::analysis
