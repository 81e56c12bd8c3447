#pragma once

#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "model/metrics.h"

// What the names of the GPU's metrics tell: unit__counter.rollup.submetric, "dram__bytes_read.sum.per_second".
namespace nl::analysis {

using Metrics = std::map<std::string, double>;

// The first that was measured.
std::optional<double> first_metric(const Metrics& metrics, std::initializer_list<const char*> names);

// A percentage of the cycles in which the unit was active, not of all that elapsed.
bool of_active_cycles(std::string_view metric);

std::optional<double> dram_bytes_of(const Metrics& metrics);  // in both directions

// What the counters say of every metric of the place, those derived from several counters too. DRAM % of a stage's windows
// waits for the peaks.
MetricValues metric_values(MetricPlace place, const Metrics& metrics);

}  // namespace nl::analysis
