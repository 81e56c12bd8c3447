#include "analysis/figures/counters/ncu_bound.h"

#include <algorithm>
#include <initializer_list>

#include "analysis/figures/counters/names.h"

namespace nl::analysis {
namespace {

constexpr double kBusyPct = 60;
constexpr double kClearPoints = 5;

}  // namespace

std::optional<double> memory_throughput(const std::map<std::string, double>& metrics) {
  const auto found = metrics.find("gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed");
  if (found != metrics.end()) return found->second;
  // Without the DRAM's the L2's says too little: a kernel that streams from DRAM keeps the L2 half idle.
  std::optional<double> busiest;
  for (const char* name : {"gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed", "dram__throughput.avg.pct_of_peak_sustained_elapsed"})
    if (const auto dram = metrics.find(name); dram != metrics.end()) busiest = std::max(busiest.value_or(0), dram->second);
  const auto l2 = metrics.find("lts__throughput.avg.pct_of_peak_sustained_elapsed");
  if (busiest && l2 != metrics.end()) busiest = std::max(*busiest, l2->second);
  return busiest;
}

std::optional<double> memory_throughput(const NcuSample& sample) {
  const auto replayed = memory_throughput(sample.metrics);
  if (sample.measured_by != Meter::kCupti || !sample.values[Metric::kDram]) return replayed;
  return std::max(replayed.value_or(0), *sample.values[Metric::kDram]);
}

// The farther memory is asked first: where two are as busy, the nearer one waits for it. The L1's percentage is of the cycles
// in which it is active, so that it may exceed the whole.
std::optional<MemoryLevel> busiest_memory(const std::map<std::string, double>& metrics) {
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
  const auto rate = sample.metrics.find("dram__bytes.sum.per_second");
  if (rate == sample.metrics.end() || !sample.ncu_duration_ns) return std::nullopt;
  return rate->second * static_cast<double>(*sample.ncu_duration_ns) * 1e-9;
}

NcuBound classify_bound(std::optional<double> sm_pct, std::optional<double> memory_pct) {
  if (!sm_pct || !memory_pct) return {};
  const double busier = std::max(*sm_pct, *memory_pct), other = std::min(*sm_pct, *memory_pct);
  if (busier < kBusyPct) return {Bound::kLatency, kBusyPct - busier};
  if (busier < other + kClearPoints) return {};
  return {busier == *memory_pct ? Bound::kMemory : Bound::kCompute, std::min(busier - kBusyPct, busier - other - kClearPoints)};
}

std::optional<Bound> bound_by(std::optional<double> sm_pct, std::optional<double> memory_pct) {
  return classify_bound(sm_pct, memory_pct).by;
}

}  // namespace nl::analysis
