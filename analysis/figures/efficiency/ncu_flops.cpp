#include "analysis/figures/efficiency/ncu_flops.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string_view>

namespace nl::analysis {
namespace {

using Metrics = std::map<std::string, double>;

std::optional<double> metric(const Metrics& metrics, const std::string& name) {
  const auto found = metrics.find(name);
  if (found == metrics.end() || !std::isfinite(found->second) || found->second < 0) return std::nullopt;
  return found->second;
}

std::optional<double> elapsed_cycles(const Metrics& metrics) {
  for (const char* name : {"smsp__cycles_elapsed.avg", "sm__cycles_elapsed.avg", "gpc__cycles_elapsed.avg", "gpc__cycles_elapsed.max"})
    if (const auto cycles = metric(metrics, name)) return cycles;
  return std::nullopt;
}

// ncu's roofline section has counts per elapsed cycle only: 4.4917 × 7295.24 cycles = 32768.
std::optional<double> sum_of(const Metrics& metrics, const std::string& base) {
  if (const auto sum = metric(metrics, base + ".sum")) return sum;
  const auto rate = metric(metrics, base + ".sum.per_cycle_elapsed");
  const auto cycles = elapsed_cycles(metrics);
  if (rate && cycles) return *rate * *cycles;
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

// "bf16_dst_fp32_sparsity_off" → source "bf16", 2 details
struct TensorPath {
  std::string source;
  int details = 0;  // how finely the metric splits the source's operations: none, by destination, by sparsity
};

TensorPath tensor_path(std::string_view rest) {
  TensorPath path;
  if (const auto sparsity = rest.find("_sparsity_"); sparsity != std::string_view::npos) {
    rest = rest.substr(0, sparsity);
    path.details = 2;
  }
  if (const auto destination = rest.find("_dst_"); destination != std::string_view::npos) {
    rest = rest.substr(0, destination);
    path.details = std::max(path.details, 1);
  }
  path.source = rest;
  return path;
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
    const TensorPath path = tensor_path(std::string_view(base).substr(kTensorPrefix.size()));
    by_source[path.source][path.details] += *ops;
    flops.tensor_counted = true;
  }
  for (const auto& [source, splits] : by_source)
    if (const double ops = splits.begin()->second; ops > 0) flops.by_precision[{"tensor " + peak_dtype(source), peak_dtype(source)}] += ops;
}

// HFMA2 also loads constants, and converts between bf16 and f32 as HADD2 does for f16. Nobody moves values with HMUL2.
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

}  // namespace nl::analysis
