#include "analysis/statistics/time_order.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <tuple>

namespace nl::analysis {
namespace {

// Side, place and value around their means. Sums are always made in the order of time, so that exchanged sides only turn signs.
struct Centred {
  std::vector<double> side, place, value;
  double ss = 0, tt = 0, st = 0, sy = 0, ty = 0;

  explicit Centred(std::vector<OrderedValue> values) {
    std::sort(values.begin(), values.end(),
              [](const OrderedValue& a, const OrderedValue& b) { return std::tie(a.place, a.value) < std::tie(b.place, b.value); });
    double mean_side = 0, mean_place = 0, mean_value = 0;
    for (const OrderedValue& each : values) {
      mean_side += each.of_b ? 0.5 : -0.5;
      mean_place += each.place;
      mean_value += each.value;
    }
    const auto count = static_cast<double>(values.size());
    for (const OrderedValue& each : values) {
      side.push_back((each.of_b ? 0.5 : -0.5) - mean_side / count);
      place.push_back(each.place - mean_place / count);
      value.push_back(each.value - mean_value / count);
    }
    for (std::size_t i = 0; i < values.size(); ++i) {
      ss += side[i] * side[i];
      tt += place[i] * place[i];
      st += side[i] * place[i];
      sy += side[i] * value[i];
      ty += place[i] * value[i];
    }
  }

  double residual_square(double difference, double trend) const {
    double sum = 0;
    for (std::size_t i = 0; i < value.size(); ++i) {
      const double off = value[i] - difference * side[i] - trend * place[i];
      sum += off * off;
    }
    return sum;
  }
};

// Without scatter every difference is real, and p is 0; without a difference p is 1.
double p_of(double estimate, double variance, double degrees_of_freedom) {
  if (estimate == 0) return 1;
  if (!(variance > 0)) return 0;
  return student_p(estimate / std::sqrt(variance), degrees_of_freedom);
}

void set_error(double variance, double degrees_of_freedom, SideEffect& effect) {
  effect.standard_error = std::sqrt(variance);
  effect.degrees_of_freedom = degrees_of_freedom;
  effect.p_value = p_of(effect.difference, variance, degrees_of_freedom);
}

SideEffect without_trend(const Centred& c) {
  SideEffect effect;
  const double df = static_cast<double>(c.value.size()) - 2;
  effect.difference = c.sy / c.ss;
  set_error(c.residual_square(effect.difference, 0) / df / c.ss, df, effect);
  return effect;
}

}  // namespace

double autocorrelation_time(std::span<const double> values) {
  const std::size_t count = values.size();
  double mean = 0, variance = 0;
  if (count < 4) return 1;
  for (const double value : values) mean += value;
  mean /= static_cast<double>(count);
  for (const double value : values) variance += (value - mean) * (value - mean);
  const double rounding = 1e-12 * mean;  // equal values are not quite their own mean
  if (!(variance > rounding * rounding * static_cast<double>(count))) return 1;
  const auto correlation = [&](std::size_t lag) {
    double sum = 0;
    for (std::size_t i = lag; i < count; ++i) sum += (values[i] - mean) * (values[i - lag] - mean);
    return sum / variance;
  };
  // Geyer's initial positive sequence: of a real process the sum of two neighbouring lags is positive; where it is not, there is only noise.
  double time = 1 + 2 * correlation(1);
  for (std::size_t lag = 2; lag + 1 < count / 2; lag += 2) {
    const double pair = correlation(lag) + correlation(lag + 1);
    if (!(pair > 0)) break;
    time += 2 * pair;
  }
  return std::clamp(time, 1.0, static_cast<double>(count));
}

std::optional<SideEffect> side_effect(std::vector<OrderedValue> values, bool with_trend) {
  const Centred c(std::move(values));
  const auto count = static_cast<double>(c.value.size());
  if (c.value.size() < (with_trend ? 4u : 3u) || !(c.ss > 0)) return std::nullopt;
  if (!with_trend) return without_trend(c);
  const double determinant = c.ss * c.tt - c.st * c.st;
  if (!(determinant > 1e-9 * c.ss * c.tt)) return std::nullopt;
  SideEffect effect;
  effect.difference = (c.sy * c.tt - c.ty * c.st) / determinant;
  effect.trend = (c.ty * c.ss - c.sy * c.st) / determinant;
  const double variance = c.residual_square(effect.difference, effect.trend) / (count - 3);
  set_error(variance * c.tt / determinant, count - 3, effect);
  effect.trend_p_value = p_of(effect.trend, variance * c.ss / determinant, count - 3);
  return effect;
}

double side_by_place(const std::vector<OrderedValue>& values) {
  const Centred c(values);
  return c.ss > 0 && c.tt > 0 ? c.st * c.st / (c.ss * c.tt) : 0;
}

}  // namespace nl::analysis
