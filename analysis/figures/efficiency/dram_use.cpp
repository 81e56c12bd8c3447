#include "analysis/figures/efficiency/dram_use.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "analysis/figures/counters/names.h"
#include "analysis/figures/counters/ncu_bound.h"
#include "analysis/figures/efficiency/device_peaks.h"

namespace nl::analysis {
namespace {

const Device* find_device(const Run& run, std::int32_t id) {
  const auto& gpus = run.hardware.gpus;
  const auto found = std::find_if(gpus.begin(), gpus.end(), [&](const Device& gpu) { return gpu.id == id; });
  if (found != gpus.end()) return &*found;
  return gpus.size() == 1 ? &gpus[0] : nullptr;  // two passes may number one GPU differently
}

// Where the peaks are this GPU's, what they leave open is not known: the memory of a card is not that of its slice.
std::optional<double> memory_bandwidth(const Run& run, std::int32_t id) {
  const Device* device = find_device(run, id);
  if (device == nullptr) return std::nullopt;
  const Device* working = working_device(run);
  const bool same = working == device || (working != nullptr && !device->name.empty() && working->name == device->name);
  if (run.peaks && same) return run.peaks->bytes_per_s;
  if (device->bandwidth_bytes_per_s == 0) return std::nullopt;
  return static_cast<double>(device->bandwidth_bytes_per_s);
}

// Of all GPUs whose bandwidth is known.
std::optional<double> dram_pct(const Run& run, const std::vector<DramUse>& uses) {
  double bytes = 0, possible = 0;
  for (const DramUse& use : uses) {
    const auto bandwidth = memory_bandwidth(run, use.device);
    if (!bandwidth) continue;
    bytes += use.bytes;
    possible += use.duration_ns / 1e9 * *bandwidth;
  }
  if (possible <= 0) return std::nullopt;
  return 100 * bytes / possible;
}

// From what was measured in place; see memory_throughput.
void fill_sample(const Run& run, std::int32_t device, NcuSample& sample) {
  if (sample.measured_by != Meter::kCupti || !sample.values[Metric::kDramBytes] || !sample.ncu_duration_ns) return;
  const auto pct = dram_pct(run, {{device, *sample.values[Metric::kDramBytes], static_cast<double>(*sample.ncu_duration_ns)}});
  if (!pct) return;
  sample.values[Metric::kDram] = pct;
  sample.bound_by = bound_by(sample.values[Metric::kSm], memory_throughput(sample));
  sample.bound_memory = sample.bound_by == Bound::kMemory ? busiest_memory(sample) : std::nullopt;
}

}  // namespace

void add_dram_use(const Run& run, std::vector<StageEntry>& stages, std::optional<std::vector<KernelEntry>>& kernels) {
  for (StageEntry& stage : stages) {
    // A stage of a run.json that was read has its percentage, but not what it was made of.
    if (auto& counters = stage.counters; counters && !counters->dram_use.empty())
      counters->values[Metric::kDram] = dram_pct(run, counters->dram_use);
    // What the GPU itself says of its DRAM goes before.
    if (auto& sampling = stage.sampling;
        sampling && !sampling->dram_use.empty() && !metric_values(MetricPlace::kSampled, sampling->metrics)[Metric::kDram])
      sampling->values[Metric::kDram] = dram_pct(run, sampling->dram_use);
  }
  if (!kernels) return;
  for (KernelEntry& kernel : *kernels)
    for (NcuSample& sample : kernel.ncu) fill_sample(run, kernel.device, sample);
}

}  // namespace nl::analysis
