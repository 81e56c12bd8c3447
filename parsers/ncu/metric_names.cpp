#include "parsers/ncu/cells.h"

#include <algorithm>
#include <array>

namespace nl::parsers {
namespace {

struct DetailsName {
  std::string_view section;  // the beginning of it: versions differ in the rest
  std::string_view metric;
  std::string_view raw;
};

constexpr std::array kNames = {
    DetailsName{"GPU Speed Of Light", "Duration", "gpu__time_duration.sum"},
    DetailsName{"GPU Speed Of Light", "Compute (SM) Throughput", "sm__throughput.avg.pct_of_peak_sustained_elapsed"},
    DetailsName{"GPU Speed Of Light", "SM Throughput", "sm__throughput.avg.pct_of_peak_sustained_elapsed"},
    DetailsName{"GPU Speed Of Light", "SM [%]", "sm__throughput.avg.pct_of_peak_sustained_elapsed"},
    DetailsName{"GPU Speed Of Light", "SOL SM", "sm__throughput.avg.pct_of_peak_sustained_elapsed"},
    DetailsName{"GPU Speed Of Light", "Memory Throughput", "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed"},
    DetailsName{"GPU Speed Of Light", "Memory [%]", "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed"},
    DetailsName{"GPU Speed Of Light", "SOL Memory", "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed"},
    DetailsName{"GPU Speed Of Light", "DRAM Throughput", "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed"},
    DetailsName{"GPU Speed Of Light", "SOL DRAM", "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed"},
    DetailsName{"GPU Speed Of Light", "L1/TEX Cache Throughput", "l1tex__throughput.avg.pct_of_peak_sustained_active"},
    DetailsName{"GPU Speed Of Light", "L2 Cache Throughput", "lts__throughput.avg.pct_of_peak_sustained_elapsed"},
    DetailsName{"GPU Speed Of Light", "Elapsed Cycles", "gpc__cycles_elapsed.max"},
    DetailsName{"GPU Speed Of Light", "SM Active Cycles", "sm__cycles_active.avg"},
    DetailsName{"GPU Speed Of Light", "SM Frequency", "gpc__cycles_elapsed.avg.per_second"},
    DetailsName{"GPU Speed Of Light", "DRAM Frequency", "dram__cycles_elapsed.avg.per_second"},
    DetailsName{"Occupancy", "Achieved Occupancy", "sm__warps_active.avg.pct_of_peak_sustained_active"},
    DetailsName{"Occupancy", "Theoretical Occupancy", "sm__maximum_warps_per_active_cycle_pct"},
    DetailsName{"Occupancy", "Achieved Active Warps Per SM", "sm__warps_active.avg.per_cycle_active"},
    DetailsName{"Compute Workload Analysis", "Executed Ipc Active", "sm__inst_executed.avg.per_cycle_active"},
    DetailsName{"Memory Workload Analysis", "L1/TEX Hit Rate", "l1tex__t_sector_hit_rate.pct"},
    DetailsName{"Memory Workload Analysis", "L2 Hit Rate", "lts__t_sector_hit_rate.pct"},
    DetailsName{"Launch Statistics", "Registers Per Thread", "launch__registers_per_thread"},
    DetailsName{"Launch Statistics", "Waves Per SM", "launch__waves_per_multiprocessor"},
};

}  // namespace

std::string raw_metric_name(std::string_view section, std::string_view metric, bool rate) {
  // "Command line profiler metrics" and the metric tables print the raw name already.
  if (metric.find("__") != std::string_view::npos) return std::string(metric);
  if (rate && metric == "Memory Throughput") return "dram__bytes.sum.per_second";
  const auto found = std::find_if(kNames.begin(), kNames.end(), [&](const DetailsName& name) {
    return section.substr(0, name.section.size()) == name.section && metric == name.metric;
  });
  if (found != kNames.end()) return std::string(found->raw);
  return std::string(section) + "/" + std::string(metric);
}

}  // namespace nl::parsers
