#include "analysis/runs/fingerprint/counters.h"

#include <cmath>

namespace nl::analysis {
namespace {

constexpr double kWarpThreads = 32;
constexpr const char* kThreadsPerInstruction = "smsp__thread_inst_executed_per_inst_executed.ratio";
constexpr const char* kL2HitRate = "lts__t_sector_hit_rate.pct";

constexpr std::optional<double> FingerprintCounters::* kCounterFigures[] = {
    &FingerprintCounters::intensity, &FingerprintCounters::occupancy, &FingerprintCounters::warp_efficiency, &FingerprintCounters::l2_hit,
    &FingerprintCounters::dram_use};

// What a damaged counter says is not said: no NaN, no infinity, nothing below zero.
std::optional<double> sound(const std::optional<double>& value, double scale) {
  if (!value || !std::isfinite(*value) || *value < 0) return std::nullopt;
  return *value * scale;
}

std::optional<double> raw_metric(const NcuSample& sample, const char* name) {
  const auto found = sample.metrics.find(name);
  return found != sample.metrics.end() ? std::optional(found->second) : std::nullopt;
}

const RooflinePoint* point_of(const Run& run, const KernelEntry& kernel, const NcuSample& sample) {
  for (const RooflinePoint& point : run.roofline.points)
    if (point.ncu_id == sample.ncu_id && point.kernel == kernel.name && point.stage == sample.stage) return &point;
  return nullptr;
}

// Bytes ÷ (time × peak) where the peak is known, else as the counter has it.
std::optional<double> dram_use(const NcuSample& sample, const RooflinePoint* point, const DevicePeaks* peaks) {
  if (point != nullptr && peaks != nullptr && peaks->bytes_per_s && *peaks->bytes_per_s > 0 && point->duration_ns > 0)
    return sound(point->dram_bytes / (static_cast<double>(point->duration_ns) * 1e-9 * *peaks->bytes_per_s), 1);
  return sound(sample.values[Metric::kDram], 0.01);
}

FingerprintCounters sample_counters(const Run& run, const KernelEntry& kernel, const NcuSample& sample, const DevicePeaks* peaks) {
  const RooflinePoint* point = point_of(run, kernel, sample);
  FingerprintCounters out;
  if (point != nullptr) out.intensity = sound(point->intensity, 1);
  out.occupancy = sound(sample.values[Metric::kOccupancy], 0.01);
  out.warp_efficiency = sound(raw_metric(sample, kThreadsPerInstruction), 1 / kWarpThreads);
  out.l2_hit = sound(raw_metric(sample, kL2HitRate), 0.01);
  out.dram_use = dram_use(sample, point, peaks);
  return out;
}

}  // namespace

void CounterMean::add(const FingerprintCounters& counters, double weight) {
  if (!(weight > 0) || !std::isfinite(weight)) return;
  for (std::size_t i = 0; i < kFigures; ++i)
    if (const auto& value = counters.*kCounterFigures[i]) sums_[i].value += *value * weight, sums_[i].weight += weight;
}

FingerprintCounters CounterMean::result() const {
  FingerprintCounters out;
  for (std::size_t i = 0; i < kFigures; ++i)
    if (sums_[i].weight > 0) out.*kCounterFigures[i] = sums_[i].value / sums_[i].weight;
  return out;
}

FingerprintCounters fingerprint_counters(const Run& run, const KernelEntry& kernel, const DevicePeaks* peaks) {
  CounterMean mean;
  for (const NcuSample& sample : kernel.ncu)
    mean.add(sample_counters(run, kernel, sample, peaks),
             static_cast<double>(sample.nsys_median_ns) * static_cast<double>(sample.nsys_calls));
  return mean.result();
}

}  // namespace nl::analysis
