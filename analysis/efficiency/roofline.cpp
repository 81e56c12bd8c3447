#include "analysis/efficiency/roofline.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "analysis/counters/ncu_bound.h"
#include "analysis/efficiency/ncu_flops.h"

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
      out.push_back(fmt::format("{} {} left out, first {}: {}", launches.first, launches.first == 1 ? "launch" : "launches", launches.second, why));
    return out;
  }

 private:
  std::map<std::string, std::pair<std::size_t, std::string>> reasons_;
};

std::optional<double> dram_bytes(const NcuSample& sample) {
  if (sample.values[Metric::kDramBytes]) return sample.values[Metric::kDramBytes];
  const auto rate = sample.metrics.find("dram__bytes.sum.per_second");
  if (rate == sample.metrics.end() || !sample.ncu_duration_ns) return std::nullopt;
  return rate->second * static_cast<double>(*sample.ncu_duration_ns) * 1e-9;
}

const char* why_left_out(const LaunchFlops& flops, const NcuSample& sample, std::optional<double> bytes) {
  static const std::string kTensor = fmt::format("its tensor operations were not measured (sm__ops_path_tensor_src_*.sum; {})", kHowToCount);
  static const std::string kVector =
      fmt::format("its FLOPs were not measured (smsp__sass_thread_inst_executed_op_{{fadd,fmul,ffma,hadd,hmul,hfma}}_pred_on.sum; {})", kHowToCount);
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

std::optional<double> peak_of(const DevicePeaks& peaks, std::string precision) {
  if (constexpr std::string_view tensor = "tensor "; precision.compare(0, tensor.size(), tensor) == 0)
    precision = precision.substr(tensor.size());
  else if (precision == "f16")
    precision.clear();  // the tables' f16 is the tensor pipe's
  const auto found = peaks.flops_per_s.find(precision);
  return found == peaks.flops_per_s.end() ? std::nullopt : std::optional(found->second);
}

// The roof over a point: the slope of the memory, or the peak of its precision where that is lower.
std::optional<double> roof_at(const DevicePeaks& peaks, const RooflinePoint& point) {
  if (!peaks.bytes_per_s || *peaks.bytes_per_s <= 0) return std::nullopt;
  const double slope = *peaks.bytes_per_s * point.intensity;
  if (const auto peak = peak_of(peaks, point.precision)) return std::min(*peak, slope);
  // Half precision on the ordinary pipes runs at twice single precision's rate or more: below that the slope decides.
  const auto single = peaks.flops_per_s.find("f32");
  if (point.precision == "f16" && single != peaks.flops_per_s.end() && slope <= single->second) return slope;
  return std::nullopt;
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
  point.precision = flops.main_precision();
  const NcuBound bound = classify_bound(sample.values[Metric::kSm], memory_throughput(sample));
  point.bound_by = bound.by;
  point.margin = bound.margin;
  return point;
}

}  // namespace

void fill_roofline(Run& run) {
  run.roofline = {};
  if (!run.kernels) return;
  LeftOut left_out;
  for (const KernelEntry& kernel : *run.kernels) {
    for (const NcuSample& sample : kernel.ncu) {
      const LaunchFlops flops = count_flops(sample.metrics);
      const auto bytes = dram_bytes(sample);
      if (const char* why = why_left_out(flops, sample, bytes)) {
        left_out.add(why, kernel.name);
        continue;
      }
      RooflinePoint point = point_of(kernel, sample, flops, *bytes);
      if (has_peaks(run, kernel)) point.roof_flops_per_s = roof_at(*run.peaks, point);
      if (point.roof_flops_per_s && *point.roof_flops_per_s > 0) point.roof_share = point.flops_per_s / *point.roof_flops_per_s;
      run.roofline.points.push_back(std::move(point));
    }
  }
  run.roofline.notes = left_out.notes();
}

}  // namespace nl::analysis
