#include "analysis/figures/efficiency/roofline.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <set>
#include <string_view>

#include "analysis/figures/counters/metric_values.h"

namespace nl::analysis {
namespace {

std::optional<double> metric(const Metrics& metrics, const std::string& name) {
  const auto found = metrics.find(name);
  if (found == metrics.end() || !std::isfinite(found->second) || found->second < 0) return std::nullopt;
  return found->second;
}

// ncu's roofline section has counts per elapsed cycle only: 4.4917 × 7295.24 cycles = 32768.
std::optional<double> sum_of(const Metrics& metrics, const std::string& base) {
  if (const auto sum = metric(metrics, base + ".sum")) return sum;
  const auto rate = metric(metrics, base + ".sum.per_cycle_elapsed");
  for (const char* name : {"smsp__cycles_elapsed.avg", "sm__cycles_elapsed.avg", "gpc__cycles_elapsed.avg", "gpc__cycles_elapsed.max"})
    if (const auto cycles = metric(metrics, name); rate && cycles) return *rate * *cycles;
  return std::nullopt;
}

// The tables' f16 is the tensor pipe's. The ordinary pipes run it at twice single precision's rate or more.
const Precision kSingle{"f32", "f32"}, kHalf{"f16", "f32", true}, kDouble{"f64", "f64"};

struct VectorOp {
  const char* op;
  const Precision& precision;
  double flops;  // of one thread's instruction; the half-precision ones work on two values at a time
};
const std::array kVectorOps = {
    VectorOp{"fadd", kSingle, 1}, VectorOp{"fmul", kSingle, 1}, VectorOp{"ffma", kSingle, 2},
    VectorOp{"hadd", kHalf, 2},   VectorOp{"hmul", kHalf, 2},   VectorOp{"hfma", kHalf, 4},
    VectorOp{"dadd", kDouble, 1}, VectorOp{"dmul", kDouble, 1}, VectorOp{"dfma", kDouble, 2},
};

constexpr std::string_view kTensorPrefix = "sm__ops_path_tensor_src_";

// "bf16_dst_fp32_sparsity_off" → source "bf16", and 2: how finely the metric splits the source's operations, which is 0 for
// not at all, 1 by destination, 2 by sparsity.
std::pair<std::string, int> tensor_path(std::string_view rest) {
  int details = 0;
  if (const auto sparsity = rest.find("_sparsity_"); sparsity != std::string_view::npos) {
    rest = rest.substr(0, sparsity);
    details = 2;
  }
  if (const auto destination = rest.find("_dst_"); destination != std::string_view::npos) {
    rest = rest.substr(0, destination);
    details = std::max(details, 1);
  }
  return {std::string(rest), details};
}

// The type whose peak counts for operands of that kind; "" for those that no table has.
std::string peak_dtype(const std::string& source) {
  static const std::map<std::string, std::string> kTypes = {{"bf16", "bf16"}, {"fp16", "f16"}, {"tf32", "tf32"}, {"fp8", "fp8"},
                                                            {"fp4", "fp4"},   {"fp64", "f64"}, {"int8", "int8"}, {"fp4_fp6_fp8", "fp8"}};
  const auto found = kTypes.find(source);
  return found == kTypes.end() ? source : found->second;
}

void add_tensor(const Metrics& metrics, LaunchFlops& flops) {
  // source → how finely split → operations. A coarse metric holds the finer ones: the coarsest counts.
  std::map<std::string, std::map<int, double>> by_source;
  for (auto found = metrics.lower_bound(std::string(kTensorPrefix)); found != metrics.end(); ++found) {
    const std::string& name = found->first;
    if (name.compare(0, kTensorPrefix.size(), kTensorPrefix) != 0) break;
    const auto dot = name.find('.');
    if (dot == std::string::npos) continue;
    const std::string_view rollup = std::string_view(name).substr(dot);
    const std::string base = name.substr(0, dot);
    if (rollup != ".sum" && (rollup != ".sum.per_cycle_elapsed" || metrics.count(base + ".sum") > 0)) continue;
    const auto ops = sum_of(metrics, base);
    if (!ops) continue;
    const auto [source, details] = tensor_path(std::string_view(base).substr(kTensorPrefix.size()));
    by_source[source][details] += *ops;
    flops.tensor_counted = true;
  }
  for (const auto& [source, splits] : by_source)
    if (const double ops = splits.begin()->second; ops > 0) flops.by_precision[{"tensor " + peak_dtype(source), peak_dtype(source)}] += ops;
}

// HFMA2 also loads constants, and converts between bf16 and f32 as HADD2 does for f16. HMUL2 is never used to move values.
struct VectorCounts {
  double single = 0, half = 0, half_products = 0;

  void add(const VectorOp& op, double executed) {
    if (&op.precision == &kSingle) single += executed;
    if (&op.precision == &kHalf) half += executed;
    if (std::string_view(op.op) == "hmul") half_products += executed;
  }
  bool half_is_work(KernelClass kind) const {
    if (half_products > 0) return true;
    switch (kind) {
      case KernelClass::kElementwise:
      case KernelClass::kCopy:
      case KernelClass::kCacheCopy:
      case KernelClass::kReduce:
      case KernelClass::kNorm: return false;
      default: return half > single;
    }
  }
};

// Why a launch has no point → how many, and the first of them.
class LeftOut {
 public:
  void add(const std::string& why, const std::string& kernel) {
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

// Empty: nothing is missing.
std::string why_left_out(const LaunchFlops& flops, const NcuSample& sample, std::optional<double> bytes) {
  const auto unmeasured = [](std::string_view what, std::string_view metrics) {
    return fmt::format("its {} not measured ({}; the preset profiling/ncu/roofline measures them)", what, metrics);
  };
  if (!flops.tensor_counted && sample.values[Metric::kTensor] && *sample.values[Metric::kTensor] > 0)
    return unmeasured("tensor operations were", "sm__ops_path_tensor_src_*.sum");
  if (!flops.vector_counted && !(flops.tensor_counted && flops.total() > 0))
    return unmeasured("FLOPs were", "smsp__sass_thread_inst_executed_op_{fadd,fmul,ffma,hadd,hmul,hfma}_pred_on.sum");
  if (!flops.tensor_counted && !sample.values[Metric::kTensor]) return unmeasured("tensor core use was", "sm__ops_path_tensor_src_*.sum");
  if (flops.total() <= 0) return "it has no floating-point work";
  if (!sample.ncu_duration_ns || *sample.ncu_duration_ns <= 0) return "its duration was not measured (gpu__time_duration.sum)";
  if (!bytes) return "its DRAM traffic was not measured (dram__bytes_read.sum, dram__bytes_write.sum)";
  if (*bytes <= 0) return "it moved no bytes from or to DRAM";
  return "";
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

double LaunchFlops::total() const {
  double sum = 0;
  for (const auto& [precision, flops] : by_precision) sum += flops;
  return sum;
}

Precision LaunchFlops::main_precision() const {
  const auto most =
      std::max_element(by_precision.begin(), by_precision.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == by_precision.end() || most->second <= 0 ? Precision{} : most->first;
}

LaunchFlops count_flops(const Metrics& metrics, KernelClass kind) {
  LaunchFlops flops;
  VectorCounts counts;
  for (const VectorOp& op : kVectorOps) {
    const auto executed = sum_of(metrics, std::string("smsp__sass_thread_inst_executed_op_") + op.op + "_pred_on");
    if (!executed) continue;
    flops.vector_counted = true;
    if (*executed <= 0) continue;
    flops.by_precision[op.precision] += op.flops * *executed;
    counts.add(op, *executed);
  }
  if (!counts.half_is_work(kind)) flops.by_precision.erase(kHalf);
  add_tensor(metrics, flops);
  return flops;
}

Roofline roofline_of(const Run& run) {
  Roofline roofline;
  if (!run.kernels) return roofline;
  LeftOut left_out;
  for (const KernelEntry& kernel : *run.kernels) {
    const KernelClass kind = classify_kernel(kernel.name);
    for (const NcuSample& sample : kernel.ncu) {
      const LaunchFlops flops = count_flops(sample.metrics, kind);
      const auto bytes = dram_bytes(sample);
      if (const std::string why = why_left_out(flops, sample, bytes); !why.empty()) {
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
