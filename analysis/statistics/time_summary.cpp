#include "analysis/statistics/time_summary.h"

#include <algorithm>
#include <cmath>

namespace nl::analysis {
namespace {

// Around the mean, in a second pass: the sum of squares alone would lose the digits that matter where the
// times are long and close to each other.
template <typename Value>
double deviation(const std::vector<Value>& values, double mean) {
  if (values.size() < 2) return 0;
  double squares = 0;
  for (Value value : values) {
    double off = static_cast<double>(value) - mean;
    squares += off * off;
  }
  return std::sqrt(squares / static_cast<double>(values.size() - 1));
}

template <typename Value>
TimeSummary summarise(std::vector<Value>& values) {
  TimeSummary summary;
  summary.count = values.size();
  if (values.empty()) return summary;
  auto [min, max] = std::minmax_element(values.begin(), values.end());
  summary.min_ns = static_cast<Ns>(*min);
  summary.max_ns = static_cast<Ns>(*max);
  for (Value value : values) summary.total_ns += static_cast<Ns>(value);
  summary.mean_ns = static_cast<double>(summary.total_ns) / static_cast<double>(summary.count);
  summary.stddev_ns = deviation(values, summary.mean_ns);
  summary.median_ns = median_in_place(values);
  // By nearest rank, each in the part above the one before it: all above the median are last already.
  auto from = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  const auto percentile = [&](std::size_t percent) {
    const auto at = values.begin() + static_cast<std::ptrdiff_t>((values.size() * percent + 99) / 100 - 1);
    std::nth_element(from, at, values.end());
    from = at;
    return static_cast<Ns>(*at);
  };
  if (summary.count >= kLeastForP95) {
    summary.p90_ns = percentile(90);
    summary.p95_ns = percentile(95);
  }
  if (summary.count >= kLeastForP99) summary.p99_ns = percentile(99);
  return summary;
}

}  // namespace

TimeSummary summarise_times(std::vector<Ns>& values) { return summarise(values); }

TimeSummary summarise_times(const Durations& durations) {
  if (auto brief = durations.short_values()) return summarise(*brief);
  std::vector<Ns> values = durations.values();
  return summarise(values);
}

}  // namespace nl::analysis
