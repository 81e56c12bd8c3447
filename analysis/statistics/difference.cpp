#include "analysis/statistics/difference.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <tuple>

#include "analysis/statistics/bootstrap.h"
#include "analysis/statistics/rank_sum.h"
#include "analysis/statistics/signed_rank.h"

namespace nl::analysis {
namespace {

constexpr double kTrendShows = 0.05;  // p-value
constexpr double kUsualLevel = 0.05;
constexpr std::size_t kRunsForTrend = 6;  // level, side and trend leave three degrees of freedom
constexpr double kBlockDrift = 0.02;      // standard deviation of how much the machine itself differs between two blocks of runs
constexpr double kBlockDegrees = 8;
constexpr std::size_t kLeastWindows = 8;  // of a single run; the order of fewer windows shows nothing, and is ignored
constexpr std::size_t kResamples = 1000;
constexpr std::size_t kPairsForSides = 8;  // fewer do not show whether they help

double square(double value) { return value * value; }

struct Spread {
  double variance = 0, degrees = 0;
};

// Welch and Satterthwaite: the sum of two variances that are known with so many degrees of freedom each.
Spread sum_of(const Spread& a, const Spread& b) {
  const double sum = a.variance + b.variance;
  const auto part = [](const Spread& each) { return each.variance > 0 ? square(each.variance) / each.degrees : 0.0; };
  const double parts = part(a) + part(b);
  return {sum, parts > 0 ? square(sum) / parts : std::max(a.degrees, b.degrees)};
}

// Sums in the order of size, positive and negative ones apart: exchanged sides, and runs named in another order, give the same to the last digit.
double mean_of(std::vector<double> values) {
  std::sort(values.begin(), values.end(), [](double a, double b) { return std::abs(a) < std::abs(b); });
  double positive = 0, negative = 0;
  for (const double value : values) (value > 0 ? positive : negative) += std::abs(value);
  return (positive - negative) / static_cast<double>(values.size());
}

Spread spread_of(const std::vector<double>& values) {
  if (values.size() < 2) return {};
  const double mean = mean_of(values);
  std::vector<double> squares;
  for (const double value : values) squares.push_back(square(value - mean));
  const auto degrees = static_cast<double>(values.size() - 1);
  return {mean_of(std::move(squares)) * static_cast<double>(values.size()) / degrees, degrees};
}

struct TwoSides {
  std::vector<double> a, b;
  explicit TwoSides(const std::vector<OrderedValue>& values) {
    for (const OrderedValue& each : values) (each.of_b ? b : a).push_back(each.value);
  }
  std::size_t least() const { return std::min(a.size(), b.size()); }
  double share() const { return 1 / static_cast<double>(a.size()) + 1 / static_cast<double>(b.size()); }
};

void in_order(std::vector<OrderedValue>& values) {
  std::sort(values.begin(), values.end(),
            [](const OrderedValue& x, const OrderedValue& y) { return std::tie(x.place, x.value) < std::tie(y.place, y.value); });
}

void set_error(const Spread& spread, Effect& effect) {
  effect.error = std::sqrt(spread.variance);
  effect.degrees = std::max(1.0, spread.degrees);
}

// The spread of both sides together. Few runs may be alike by chance: they count only where they show more than is known of other runs.
Spread spread_of_runs(const TwoSides& sides, const Wander& wander, std::size_t enough, Effect& effect) {
  const Spread a = spread_of(sides.a), b = spread_of(sides.b);
  const double own = a.degrees + b.degrees;
  const double variance = own > 0 ? (a.variance * a.degrees + b.variance * b.degrees) / own : 0;
  effect.assumed_wander = sides.least() < enough;
  if (!effect.assumed_wander) return {variance, own};
  return {std::max(variance, square(wander.spread)), wander.degrees};
}

void add_block_drift(Effect& effect) {
  effect.assumed_drift = true;
  set_error(sum_of({square(effect.error), effect.degrees}, {square(kBlockDrift), kBlockDegrees}), effect);
}

void set_trend(const SideEffect& ordered, Effect& effect) {
  effect.trend_known = true;
  effect.trend = ordered.trend;
  effect.trend_p = ordered.trend_p_value;
}

// Removes a trend that shows from runs in turns.
void take_trend_out(Effect& effect, std::vector<OrderedValue>& values) {
  const auto ordered = values.size() >= kRunsForTrend ? side_effect(values, true) : std::nullopt;
  if (!ordered) return;
  set_trend(*ordered, effect);
  if (effect.trend_p >= kTrendShows) return;
  double middle = 0;
  for (const OrderedValue& each : values) middle += each.place / static_cast<double>(values.size());
  for (OrderedValue& each : values) each.value -= effect.trend * (each.place - middle);
}

void set_pairs(const std::vector<OrderedValue>& ordered, Effect& effect) {
  for (std::size_t i = 0; i + 1 < ordered.size(); i += 2) {
    const OrderedValue &first = ordered[i], &second = ordered[i + 1];
    effect.pairs.push_back(first.of_b ? first.value - second.value : second.value - first.value);
  }
  std::sort(effect.pairs.begin(), effect.pairs.end());
  const Spread spread = spread_of(effect.pairs);
  effect.difference = mean_of(effect.pairs);
  set_error({spread.variance / static_cast<double>(effect.pairs.size()), spread.degrees}, effect);
}

double robust_variance(const std::vector<double>& values) {
  const double middle = median_of(values);
  std::vector<double> off;
  for (const double value : values) off.push_back(value - middle);
  return square(robust_sigma(std::move(off)));
}

// Pairs count where they take something out that both runs of a pair have in common. Else the sides are compared as a whole: a disturbed run then spoils
// less.
void keep_sides(const TwoSides& sides, Effect& effect) {
  constexpr double kPairsHelp = 0.6;  // of the variance that pairs of independent runs would have
  if (effect.pairs.size() < kPairsForSides) return;
  if (robust_variance(effect.pairs) < kPairsHelp * (robust_variance(sides.a) + robust_variance(sides.b))) return;
  effect.a = sides.a;
  effect.b = sides.b;
}

void set_sides(const TwoSides& sides, const Wander& wander, std::size_t enough, Effect& effect) {
  effect.difference = mean_of(sides.b) - mean_of(sides.a);
  const Spread spread = spread_of_runs(sides, wander, enough, effect);
  set_error({spread.variance * sides.share(), spread.degrees}, effect);
}

// A straight drift through both blocks is part of the model; what is left of the difference is uncertain by that, and by a drift that is not straight.
void set_blocks(const std::vector<OrderedValue>& values, const Wander& wander, Effect& effect) {
  const TwoSides sides(values);
  const auto ordered = sides.least() >= kBlockSpread ? side_effect(values, true) : std::nullopt;
  set_sides(sides, wander, kBlockSpread, effect);
  effect.plain_error = effect.error;
  if (ordered) {
    effect.difference = ordered->difference;
    set_trend(*ordered, effect);
    set_error({square(ordered->standard_error), ordered->degrees_of_freedom}, effect);
  }
  add_block_drift(effect);
}

std::vector<double> logs_of(std::vector<double> values) {
  for (double& value : values) value = std::log(value);
  return values;
}

// How much a run varies within itself: the variance of the medians of its fifths. Two runs differ by at least as much.
double wandering(const std::vector<double>& logs) {
  constexpr std::size_t kParts = 5;
  std::vector<double> medians;
  for (std::size_t part = 0; part < kParts; ++part)
    medians.push_back(median_of({logs.begin() + static_cast<std::ptrdiff_t>(logs.size() * part / kParts),
                                 logs.begin() + static_cast<std::ptrdiff_t>(logs.size() * (part + 1) / kParts)}));
  return spread_of(medians).variance;
}

// The variance of the median of one run's windows, and of how many values it is.
Spread median_error(const std::vector<double>& logs, std::uint64_t seed) {
  const auto count = static_cast<double>(logs.size());
  if (logs.size() < kLeastWindows) {
    const Spread spread = spread_of(logs);
    return {spread.variance / count, spread.degrees};
  }
  const double together = autocorrelation_time(logs);
  const auto block = std::clamp<std::size_t>(static_cast<std::size_t>(std::lround(2 * together)), 1, logs.size() / 4);
  const Interval middle = percentile_interval(bootstrap_medians(logs, block, kResamples, seed), 0.158655);
  return {square((middle.high - middle.low) / 2), std::max(1.0, count / together - 1)};
}

}  // namespace

Wander pooled(const Wander& a, const Wander& b) {
  const double degrees = a.degrees + b.degrees;
  if (degrees <= 0) return a;
  return {std::sqrt((square(a.spread) * a.degrees + square(b.spread) * b.degrees) / degrees), degrees};
}

std::optional<Wander> wander_of(const std::vector<double>& logs_in_order) {
  if (logs_in_order.size() < 3) return std::nullopt;
  std::vector<double> squares;
  for (std::size_t i = 1; i < logs_in_order.size(); ++i) squares.push_back(square(logs_in_order[i] - logs_in_order[i - 1]) / 2);
  // Neighbouring differences share a run: they are worth two thirds of their number.
  const double degrees = 2.0 / 3 * static_cast<double>(squares.size());
  return Wander{std::sqrt(mean_of(std::move(squares))), degrees};
}

SideOrder order_of(std::vector<OrderedValue> values) {
  in_order(values);
  if (values.size() < 2 || values.front().place == values.back().place) return SideOrder::kUnknown;
  const auto last_of = [&](bool b) {
    double last = 0;
    for (const OrderedValue& each : values)
      if (each.of_b == b) last = each.place;
    return last;
  };
  const auto first_of = [&](bool b) {
    const auto found = std::find_if(values.begin(), values.end(), [&](const OrderedValue& each) { return each.of_b == b; });
    return found != values.end() ? found->place : 0;
  };
  if (last_of(false) < first_of(true) || last_of(true) < first_of(false)) return SideOrder::kBlocks;
  bool pairs = values.size() % 2 == 0;
  for (std::size_t i = 0; pairs && i < values.size(); i += 2)
    pairs = values[i].of_b != values[i + 1].of_b && (i == 0 || values[i - 1].place < values[i].place);
  if (pairs) return SideOrder::kPairs;
  return side_by_place(values) > 0.5 ? SideOrder::kBlocks : SideOrder::kMixed;
}

std::optional<Effect> effect_of(std::vector<OrderedValue> logs, const Wander& wander) {
  if (TwoSides(logs).least() == 0) return std::nullopt;
  Effect effect;
  in_order(logs);
  const SideOrder order = order_of(logs);
  const bool enough = TwoSides(logs).least() >= kOwnSpread;
  if (order == SideOrder::kBlocks && logs.size() > 2) set_blocks(logs, wander, effect);
  if (order == SideOrder::kPairs || order == SideOrder::kMixed) take_trend_out(effect, logs);
  if (order == SideOrder::kPairs && enough) {
    set_pairs(logs, effect);
    keep_sides(TwoSides(logs), effect);
  } else if (order != SideOrder::kBlocks || logs.size() <= 2) set_sides(TwoSides(logs), wander, kOwnSpread, effect);
  if (effect.plain_error == 0) effect.plain_error = effect.error;
  return effect;
}

std::optional<Effect> effect_of_windows(const std::vector<double>& a, const std::vector<double>& b, const Wander& wander,
                                        std::uint64_t seed) {
  if (a.empty() || b.empty()) return std::nullopt;
  const std::vector<double> of_a = logs_of(a), of_b = logs_of(b);
  Effect effect;
  effect.assumed_wander = true;
  effect.difference = std::log(median_of(b)) - std::log(median_of(a));
  Spread runs{2 * square(wander.spread), wander.degrees};
  if (std::min(a.size(), b.size()) >= kLeastWindows) runs.variance = std::max(runs.variance, wandering(of_a) + wandering(of_b));
  set_error(sum_of(sum_of(median_error(of_a, seed), median_error(of_b, seed)), runs), effect);
  effect.plain_error = effect.error;
  return effect;
}

Effect effect_against(double expected_log, std::size_t expected_runs, const std::vector<double>& logs, const Wander& wander) {
  Effect effect;
  effect.difference = mean_of(logs) - expected_log;
  effect.assumed_wander = logs.size() < kBlockSpread;  // the expectation is of runs before all of these
  Spread spread = spread_of(logs);
  if (effect.assumed_wander) spread = {std::max(spread.variance, square(wander.spread)), wander.degrees};
  const double share = 1 / static_cast<double>(logs.size()) + 1 / static_cast<double>(std::max<std::size_t>(1, expected_runs));
  set_error({spread.variance * share, spread.degrees}, effect);
  effect.plain_error = effect.error;
  if (logs.size() > 1) add_block_drift(effect);
  return effect;
}

Effect level_of(const std::vector<double>& values, const Wander& wander) {
  Effect level;
  const std::vector<double> logs = logs_of(values);
  Spread spread = spread_of(logs);
  level.difference = mean_of(logs);
  level.assumed_wander = values.size() < kOwnSpread;
  if (level.assumed_wander) spread = {std::max(spread.variance, square(wander.spread)), wander.degrees};
  set_error({spread.variance / static_cast<double>(values.size()), spread.degrees}, level);
  return level;
}

Effect level_of_windows(const std::vector<double>& values, const Wander& wander, std::uint64_t seed) {
  Effect level;
  level.difference = std::log(median_of(values));
  level.assumed_wander = true;
  set_error(sum_of(median_error(logs_of(values), seed), {square(wander.spread), wander.degrees}), level);
  return level;
}

Interval Effect::interval(double confidence) const {
  if (const auto ranked = a.empty() ? signed_rank_interval(pairs, confidence) : rank_sum_interval(a, b, confidence)) return *ranked;
  const double reach = error > 0 ? error * student_t(confidence, degrees) : 0;
  return {difference - reach, difference + reach};
}

double Effect::p_value(double least) const {
  if (std::abs(difference) <= least) return 1;
  const double by_student = error > 0 ? student_p((std::abs(difference) - least) / error, degrees) : 0;
  // The least that ranks of so few pairs can give: below it the interval is Student's, and so is the probability.
  const double attainable = std::exp2(1 - static_cast<double>(pairs.size()));
  if (pairs.empty() || attainable > kUsualLevel) return by_student;
  const double shift = difference > 0 ? least : -least;
  const double ranked = a.empty() ? signed_rank_p(pairs, shift) : rank_sum_p(a, b, shift);
  return ranked > attainable ? ranked : std::min(ranked, by_student);
}

Decision decision_of(const Interval& interval, double least) {
  if (interval.low > least) return Decision::kMore;
  if (interval.high < -least) return Decision::kLess;
  return interval.low >= -least && interval.high <= least ? Decision::kUnchanged : Decision::kUndecided;
}

std::optional<std::uint64_t> runs_to_decide(const Effect& effect, std::size_t runs, double least, double confidence) {
  const double distance = std::abs(std::abs(effect.difference) - least);
  const double normal = student_t(confidence, 1e6);
  // Of runs in turns: what was assumed of a drift between blocks does not count any more.
  const double spread = effect.plain_error * std::sqrt(static_cast<double>(runs));
  const double needed = distance > 0 ? square(spread * normal / distance) : kMostRuns + 1;
  if (needed > kMostRuns) return std::nullopt;
  constexpr std::size_t kFewest = 5;  // few runs need wider intervals than the normal distribution's
  return std::max<std::uint64_t>({static_cast<std::uint64_t>(std::ceil(needed)) + 1, runs + 1, kFewest});
}

}  // namespace nl::analysis
