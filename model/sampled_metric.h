#pragma once

#include <cmath>
#include <optional>
#include <string>
#include <string_view>

#include "model/metric_series.h"

namespace nl {

// A counter over a stretch of time (sum, avg, max or min over the units): two stretches add up. Percentages, rates and
// ratios do not.
inline bool adds_up(std::string_view metric) {
  for (const std::string_view rollup : {".sum", ".avg", ".max", ".min"})
    if (metric.ends_with(rollup)) return true;
  return false;
}

// How a sampled metric is shown. A counter ("dram__bytes_read.sum") says what came together in one sample, which means
// little without its length: it is shown as a rate, under ncu's name of that, "dram__bytes_read.sum.per_second".
struct SampledMetric {
  explicit SampledMetric(const std::string& metric) : name(adds_up(metric) ? metric + ".per_second" : metric), rate(adds_up(metric)) {}

  // Empty: not measured.
  std::optional<double> value(const MetricSeries& series, std::size_t row, std::size_t column) const {
    const std::size_t at = row * series.metrics.size() + column;
    if (row >= series.duration_ns.size() || at >= series.values.size() || !std::isfinite(series.values[at])) return std::nullopt;
    const auto value = static_cast<double>(series.values[at]);
    if (!rate) return value;
    if (series.duration_ns[row] == 0) return std::nullopt;
    return value * 1e9 / series.duration_ns[row];
  }

  std::string name;
  bool rate = false;
};

}  // namespace nl
