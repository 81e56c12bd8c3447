#pragma once

#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>

// What the names of the GPU's metrics tell: unit__counter.rollup.submetric, "dram__bytes_read.sum.per_second".
namespace nl::analysis {

using Metrics = std::map<std::string, double>;

// The first that was measured.
std::optional<double> first_metric(const Metrics& metrics, std::initializer_list<const char*> names);

// A percentage of the cycles in which the unit was active, not of all that elapsed.
bool of_active_cycles(std::string_view metric);

std::optional<double> dram_bytes_of(const Metrics& metrics);
std::optional<double> dram_pct_of(const Metrics& metrics);
std::optional<double> tensor_pct_of(const Metrics& metrics);

}  // namespace nl::analysis
