#pragma once

#include <cmath>
#include <optional>
#include <string>
#include <string_view>

#include "model/metric_series.h"

namespace nl {

// How a sampled metric is shown. A counter ("dram__bytes_read.sum") says what came together in one sample, which means
// little without its length: it is shown as a rate, under ncu's name of that, "dram__bytes_read.sum.per_second".
struct SampledMetric {
  explicit SampledMetric(const std::string& metric) : name(metric) {
    for (const std::string_view rollup : {".sum", ".avg", ".max", ".min"})
      if (std::string_view(metric).ends_with(rollup)) rate = true;
    if (rate) name += ".per_second";
  }

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
