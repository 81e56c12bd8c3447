#include "analysis/statistics/bootstrap.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "analysis/statistics/time_summary.h"
#include "model/draw.h"

namespace nl::analysis {

double median_of(std::vector<double> values) { return values.empty() ? 0 : median_in_place(values); }

double robust_sigma(std::vector<double> deviations) {
  constexpr double kMadToSigma = 1.4826;
  for (double& deviation : deviations) deviation = std::abs(deviation);
  return kMadToSigma * median_of(std::move(deviations));
}

std::vector<double> bootstrap_medians(std::span<const double> values, std::size_t block, std::size_t count, std::uint64_t seed) {
  std::vector<double> medians, drawn(values.size());
  if (values.empty()) return medians;
  medians.reserve(count);
  block = std::clamp<std::size_t>(block, 1, values.size());
  Draw draw(seed);
  for (std::size_t round = 0; round < count; ++round) {
    for (std::size_t filled = 0; filled < drawn.size();) {
      std::size_t from = draw.below(values.size());
      for (std::size_t i = 0; i < block && filled < drawn.size(); ++i, ++from) drawn[filled++] = values[from % values.size()];
    }
    medians.push_back(median_in_place(drawn));
  }
  return medians;
}

std::vector<double> paired_differences(std::span<const double> a, std::span<const double> b) {
  std::vector<double> differences;
  const std::size_t count = std::min(a.size(), b.size());
  // One from the front with one from the back: the same pairs from either side, and no two that were drawn with the same numbers.
  for (std::size_t i = 0; i < count; ++i) differences.push_back(b[count - 1 - i] - a[i]);
  return differences;
}

Interval percentile_interval(std::vector<double> values, double tail) {
  if (values.empty()) return {};
  const auto last = values.size() - 1;
  const auto cut = std::min(static_cast<std::size_t>(tail * static_cast<double>(values.size())), last / 2);
  std::sort(values.begin(), values.end());
  return {values[cut], values[last - cut]};
}

double tail_95(double independent_values) {
  if (independent_values <= 1) return 0;
  const double widened = std::sqrt(independent_values / (independent_values - 1)) * student_t(0.95, independent_values - 1);
  return 0.5 * std::erfc(widened / std::numbers::sqrt2);
}

}  // namespace nl::analysis
