#include "analysis/counters/names.h"

namespace nl::analysis {

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

std::optional<double> dram_pct_of(const Metrics& metrics) {
  return first_metric(metrics, {"gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed", "dram__throughput.avg.pct_of_peak_sustained_elapsed"});
}

std::optional<double> tensor_pct_of(const Metrics& metrics) {
  return first_metric(metrics, {"sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active",
                                "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed",
                                "sm__inst_executed_pipe_tensor.avg.pct_of_peak_sustained_active"});
}

}  // namespace nl::analysis
