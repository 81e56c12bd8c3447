#include "analysis/figures/counters/names.h"

namespace nl::analysis {
namespace {

// One pass has no room for the percentage beside the cycles.
std::optional<double> sm_active_by_cycles(const Metrics& metrics) {
  const auto active = first_metric(metrics, {"sm__cycles_active.avg"});
  const auto elapsed = first_metric(metrics, {"sm__cycles_elapsed.avg", "sm__cycles_elapsed.max", "gpc__cycles_elapsed.max"});
  if (!active || !elapsed || *elapsed <= 0) return std::nullopt;
  return 100 * *active / *elapsed;
}

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

}  // namespace nl::analysis
