#pragma once

#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "model/metrics.h"
#include "model/run.h"

// What the GPU's metrics tell, and what bounds a launch. Their names: unit__counter.rollup.submetric, "dram__bytes_read.sum.per_second".
namespace nl::analysis {

using Metrics = std::map<std::string, double>;

// The value of the first of these metrics that was measured.
std::optional<double> first_metric(const Metrics& metrics, std::initializer_list<const char*> names);

// A percentage of the cycles in which the unit was active, not of all that elapsed.
bool of_active_cycles(std::string_view metric);

std::optional<double> dram_bytes_of(const Metrics& metrics);  // in both directions

// What the counters say of every metric of the place, those derived from several counters too. DRAM % of a stage's windows
// waits for the peaks.
MetricValues metric_values(MetricPlace place, const Metrics& metrics);

// The busiest part of the memory system, in % of its peak.
std::optional<double> memory_throughput(const Metrics& metrics);
// The same for a launch. The collector's replays find warm caches, so their figure for the memory system is too low where DRAM,
// measured in place, was busier.
std::optional<double> memory_throughput(const NcuSample& sample);

// Which part of the memory system that is; nothing where no measured part is as busy as the whole.
std::optional<MemoryLevel> busiest_memory(const Metrics& metrics);
std::optional<MemoryLevel> busiest_memory(const NcuSample& sample);

std::optional<double> dram_bytes(const NcuSample& sample);  // read and written by the launch

struct NcuBound {
  std::optional<Bound> by;
  std::optional<double> margin;  // points by which it would have to change to be called otherwise
};

// Compute or memory where that side is busy (60 % of its peak or more) and clearly busier than the
// other (5 points), latency where neither is; nothing where both are, or where a side was not measured.
NcuBound classify_bound(std::optional<double> sm_pct, std::optional<double> memory_pct);

}  // namespace nl::analysis
