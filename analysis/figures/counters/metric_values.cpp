#include "analysis/figures/counters/metric_values.h"

#include <algorithm>

namespace nl::analysis {
namespace {

// One pass has no room for the percentage beside the cycles.
std::optional<double> sm_active_by_cycles(const Metrics& metrics) {
  const auto active = first_metric(metrics, {"sm__cycles_active.avg"});
  const auto elapsed = first_metric(metrics, {"sm__cycles_elapsed.avg", "sm__cycles_elapsed.max", "gpc__cycles_elapsed.max"});
  if (!active || !elapsed || *elapsed <= 0) return std::nullopt;
  return 100 * *active / *elapsed;
}

constexpr double kBusyPct = 60;
constexpr double kClearPoints = 5;

}  // namespace

std::optional<double> first_metric(const Metrics& metrics, std::initializer_list<const char*> names) {
  for (const char* name : names)
    if (const auto found = metrics.find(name); found != metrics.end()) return found->second;
  return std::nullopt;
}

bool of_active_cycles(std::string_view metric) { return metric.ends_with("_sustained_active") || metric.ends_with(".per_cycle_active"); }

std::optional<double> dram_bytes_of(const Metrics& metrics) {
  const auto read = first_metric(metrics, {"dram__bytes_read.sum"});
  const auto written = first_metric(metrics, {"dram__bytes_write.sum"});
  if (read && written) return *read + *written;
  return first_metric(metrics, {"dram__bytes.sum"});
}

MetricValues metric_values(MetricPlace place, const Metrics& metrics) {
  MetricValues values;
  for (const MetricInfo& info : metrics_of(place))
    for (const char* counter : info.counters) {
      const auto found = counter == nullptr ? metrics.end() : metrics.find(counter);
      if (!values[info.metric] && found != metrics.end()) values[info.metric] = found->second;
    }
  if (place == MetricPlace::kLaunch) values[Metric::kDramBytes] = dram_bytes_of(metrics);
  if (place == MetricPlace::kStage && !values[Metric::kSmActive]) values[Metric::kSmActive] = sm_active_by_cycles(metrics);
  return values;
}

std::optional<double> memory_throughput(const Metrics& metrics) {
  if (const auto whole = first_metric(metrics, {"gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed"})) return whole;
  // Without the DRAM's the L2's says too little: a kernel that streams from DRAM keeps the L2 half idle.
  const auto dram = std::max(first_metric(metrics, {"gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed"}),
                             first_metric(metrics, {"dram__throughput.avg.pct_of_peak_sustained_elapsed"}));
  return dram ? std::max(dram, first_metric(metrics, {"lts__throughput.avg.pct_of_peak_sustained_elapsed"})) : std::nullopt;
}

std::optional<double> memory_throughput(const NcuSample& sample) {
  const auto replayed = memory_throughput(sample.metrics);
  if (sample.measured_by != Meter::kCupti || !sample.values[Metric::kDram]) return replayed;
  return std::max(replayed.value_or(0), *sample.values[Metric::kDram]);
}

// The farther memory is asked first: where two are as busy, the nearer one waits for it. The L1's percentage is of the cycles
// in which it is active, so that it may exceed the whole.
std::optional<MemoryLevel> busiest_memory(const Metrics& metrics) {
  const auto whole = memory_throughput(metrics);
  if (!whole) return std::nullopt;
  const auto as_busy = [&](std::initializer_list<const char*> names) {
    const auto level = first_metric(metrics, names);
    return level && *level >= *whole - kClearPoints;
  };
  if (as_busy({"gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed", "dram__throughput.avg.pct_of_peak_sustained_elapsed"}))
    return MemoryLevel::kDram;
  if (as_busy({"lts__throughput.avg.pct_of_peak_sustained_elapsed"})) return MemoryLevel::kL2;
  if (as_busy({"l1tex__throughput.avg.pct_of_peak_sustained_active", "l1tex__throughput.avg.pct_of_peak_sustained_elapsed"}))
    return MemoryLevel::kL1;
  return std::nullopt;
}

std::optional<MemoryLevel> busiest_memory(const NcuSample& sample) {
  const auto whole = memory_throughput(sample);
  const auto& dram = sample.values[Metric::kDram];
  if (whole && dram && *dram >= *whole - kClearPoints) return MemoryLevel::kDram;
  return busiest_memory(sample.metrics);
}

std::optional<double> dram_bytes(const NcuSample& sample) {
  if (sample.values[Metric::kDramBytes]) return sample.values[Metric::kDramBytes];
  const auto rate = first_metric(sample.metrics, {"dram__bytes.sum.per_second"});
  if (!rate || !sample.ncu_duration_ns) return std::nullopt;
  return *rate * static_cast<double>(*sample.ncu_duration_ns) * 1e-9;
}

NcuBound classify_bound(std::optional<double> sm_pct, std::optional<double> memory_pct) {
  if (!sm_pct || !memory_pct) return {};
  const double busier = std::max(*sm_pct, *memory_pct), other = std::min(*sm_pct, *memory_pct);
  if (busier < kBusyPct) return {Bound::kLatency, kBusyPct - busier};
  if (busier < other + kClearPoints) return {};
  return {busier == *memory_pct ? Bound::kMemory : Bound::kCompute, std::min(busier - kBusyPct, busier - other - kClearPoints)};
}

}  // namespace nl::analysis
