#pragma once

#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/time.h"

// What the GPU was doing, sampled over time. Metrics have the names that ncu gives them.
namespace nl {

// Samples of one GPU at regular intervals, row after row.
struct MetricSeries {
  std::int32_t device = 0;
  Ns interval_ns = 0;  // as asked for
  std::vector<std::string> metrics;
  std::vector<Ns> start_ns;  // since the start of the capture
  std::vector<std::uint32_t> duration_ns;
  std::vector<float> values;    // start_ns.size() × metrics.size(); NaN: not measured
  std::uint64_t overflows = 0;  // how often samples were lost
};

// Where warps of a kernel waited, by samples of their program counters.
struct StallSample {
  std::string kernel;  // mangled
  std::int32_t device = 0;
  std::map<std::string, std::uint64_t> reasons;  // CUPTI's name of the reason → samples
};

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
