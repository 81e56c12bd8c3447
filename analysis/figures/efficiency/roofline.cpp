#include "analysis/figures/efficiency/roofline.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "analysis/figures/counters/ncu_bound.h"
#include "analysis/figures/efficiency/ncu_flops.h"

namespace nl::analysis {
namespace {

constexpr const char* kHowToCount = "the preset profiling/ncu/roofline measures them";

// Why a launch has no point → how many, and the first of them.
class LeftOut {
 public:
  void add(const char* why, const std::string& kernel) {
    auto& [count, first] = reasons_[why];
    if (count++ == 0) first = kernel.substr(0, 80);
  }
  std::vector<std::string> notes() const {
    std::vector<std::string> out;
    for (const auto& [why, launches] : reasons_)
      out.push_back(
          fmt::format("{} {} left out, first {}: {}", launches.first, launches.first == 1 ? "launch" : "launches", launches.second, why));
    return out;
  }

 private:
  std::map<std::string, std::pair<std::size_t, std::string>> reasons_;
};

const char* why_left_out(const LaunchFlops& flops, const NcuSample& sample, std::optional<double> bytes) {
  static const std::string kTensor =
      fmt::format("its tensor operations were not measured (sm__ops_path_tensor_src_*.sum; {})", kHowToCount);
  static const std::string kVector = fmt::format(
      "its FLOPs were not measured (smsp__sass_thread_inst_executed_op_{{fadd,fmul,ffma,hadd,hmul,hfma}}_pred_on.sum; {})", kHowToCount);
  static const std::string kUnknownTensor =
      fmt::format("its tensor core use was not measured (sm__ops_path_tensor_src_*.sum; {})", kHowToCount);
  if (!flops.tensor_counted && sample.values[Metric::kTensor] && *sample.values[Metric::kTensor] > 0) return kTensor.c_str();
  if (!flops.vector_counted && !(flops.tensor_counted && flops.total() > 0)) return kVector.c_str();
  if (!flops.tensor_counted && !sample.values[Metric::kTensor]) return kUnknownTensor.c_str();
  if (flops.total() <= 0) return "it has no floating-point work";
  if (!sample.ncu_duration_ns || *sample.ncu_duration_ns <= 0) return "its duration was not measured (gpu__time_duration.sum)";
  if (!bytes) return "its DRAM traffic was not measured (dram__bytes_read.sum, dram__bytes_write.sum)";
  if (*bytes <= 0) return "it moved no bytes from or to DRAM";
  return nullptr;
}

// The roof over a point: the slope of the memory, or the peak of its precision where that is lower.
std::optional<double> roof_at(const DevicePeaks& peaks, const Precision& precision, double intensity) {
  if (!peaks.bytes_per_s || *peaks.bytes_per_s <= 0) return std::nullopt;
  const double slope = *peaks.bytes_per_s * intensity;
  const auto peak = peaks.flops_per_s.find(precision.peak_dtype);
  if (peak == peaks.flops_per_s.end()) return std::nullopt;
  if (!precision.peak_is_higher) return std::min(peak->second, slope);
  return slope <= peak->second ? std::optional(slope) : std::nullopt;
}

// Peaks are of one GPU model: those of its twins count for them too.
bool has_peaks(const Run& run, const KernelEntry& kernel) {
  if (!run.peaks) return false;
  std::set<std::string> names;
  for (const Device& device : run.hardware.gpus) names.insert(device.name);
  if (names.size() <= 1) return true;
  std::int32_t first = kernel.device;
  for (const KernelEntry& each : *run.kernels) first = std::min(first, each.device);
  return kernel.device == first;
}

RooflinePoint point_of(const KernelEntry& kernel, const NcuSample& sample, const LaunchFlops& flops, double bytes) {
  RooflinePoint point;
  point.kernel = kernel.name;
  point.stage = sample.stage;
  point.ncu_id = sample.ncu_id;
  point.flops = flops.total();
  point.dram_bytes = bytes;
  point.duration_ns = *sample.ncu_duration_ns;
  point.flops_per_s = point.flops / (static_cast<double>(point.duration_ns) * 1e-9);
  point.intensity = point.flops / bytes;
  point.precision = flops.main_precision().name;
  const NcuBound bound = classify_bound(sample.values[Metric::kSm], memory_throughput(sample));
  point.bound_by = bound.by;
  if (bound.by == Bound::kMemory) point.bound_memory = busiest_memory(sample);
  point.margin = bound.margin;
  return point;
}

}  // namespace

Roofline roofline_of(const Run& run) {
  Roofline roofline;
  if (!run.kernels) return roofline;
  LeftOut left_out;
  for (const KernelEntry& kernel : *run.kernels) {
    const KernelClass kind = classify_kernel(kernel.name);
    for (const NcuSample& sample : kernel.ncu) {
      const LaunchFlops flops = count_flops(sample.metrics, kind);
      const auto bytes = dram_bytes(sample);
      if (const char* why = why_left_out(flops, sample, bytes)) {
        left_out.add(why, kernel.name);
        continue;
      }
      RooflinePoint point = point_of(kernel, sample, flops, *bytes);
      if (has_peaks(run, kernel)) point.roof_flops_per_s = roof_at(*run.peaks, flops.main_precision(), point.intensity);
      if (point.roof_flops_per_s && *point.roof_flops_per_s > 0) point.roof_share = point.flops_per_s / *point.roof_flops_per_s;
      roofline.points.push_back(std::move(point));
    }
  }
  roofline.notes = left_out.notes();
  return roofline;
}

}  // namespace nl::analysis
