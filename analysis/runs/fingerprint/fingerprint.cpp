#include "analysis/runs/fingerprint/fingerprint.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <map>
#include <unordered_map>

#include "analysis/trace/kernel_class.h"
#include "model/run_metrics.h"
#include "model/shell.h"
#include "model/strings.h"
#include "model/words.h"

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

// The mean of several, by their times. What one of them does not know does not count in the mean of that figure.
class CounterMean {
 public:
  void add(const FingerprintCounters& counters, double weight) {
    if (!(weight > 0) || !std::isfinite(weight)) return;
    for (std::size_t i = 0; i < sums_.size(); ++i)
      if (const auto& value = counters.*kCounterFigures[i]) sums_[i].value += *value * weight, sums_[i].weight += weight;
  }
  FingerprintCounters result() const {
    FingerprintCounters out;
    for (std::size_t i = 0; i < sums_.size(); ++i)
      if (sums_[i].weight > 0) out.*kCounterFigures[i] = sums_[i].value / sums_[i].weight;
    return out;
  }

 private:
  struct Sum {
    double value = 0, weight = 0;
  };
  std::array<Sum, std::size(kCounterFigures)> sums_;
};

// What was counted of a kernel: the mean over its measured launches, by the time that the launches of their shape take.
FingerprintCounters fingerprint_counters(const Run& run, const KernelEntry& kernel, const DevicePeaks* peaks) {
  CounterMean mean;
  for (const NcuSample& sample : kernel.ncu)
    mean.add(sample_counters(run, kernel, sample, peaks),
             static_cast<double>(sample.nsys_median_ns) * static_cast<double>(sample.nsys_calls));
  return mean.result();
}

using KernelCounters = std::unordered_map<std::string_view, FingerprintCounters>;

KernelCounters counters_by_name(const Run& run, const DevicePeaks* peaks) {
  KernelCounters out;
  if (run.kernels)
    for (const KernelEntry& kernel : *run.kernels)
      if (!kernel.ncu.empty()) out.try_emplace(kernel.name, fingerprint_counters(run, kernel, peaks));
  return out;
}

// A stage whose parts have steps of their own would count their operators twice.
bool counted_by_parts(const Run& run, const OperatorStep& step) {
  const auto has = [&](StageKind kind) {
    return std::any_of(run.operator_steps.begin(), run.operator_steps.end(),
                       [&](const auto& other) { return stage_kind(other.stage) == kind; });
  };
  const StageKind kind = stage_kind(step.stage);
  if (kind == StageKind::kRequest) return has(StageKind::kPrefill) || has(StageKind::kDecode) || has(StageKind::kDecodeStep);
  return kind == StageKind::kDecode && has(StageKind::kDecodeStep);
}

// One step for each stage: of several sources the first.
std::vector<const OperatorStep*> steps_with_operators(const Run& run) {
  std::vector<const OperatorStep*> out;
  for (const OperatorStep& step : run.operator_steps) {
    const bool again = std::any_of(out.begin(), out.end(), [&](const OperatorStep* other) { return other->stage == step.stage; });
    if (!again && !counted_by_parts(run, step)) out.push_back(&step);
  }
  return out;
}

bool on_gpu(const OperatorStep& step) {
  return std::any_of(step.calls.begin(), step.calls.end(), [](const OperatorCall& call) { return call.gpu_ns.value_or(0) > 0; });
}

// Host times of an operator hold those that it calls: only the outermost count.
Ns time_of(const OperatorCall& call, bool gpu) {
  if (gpu) return call.gpu_ns.value_or(0);
  return call.depth == 0 ? call.host_ns.value_or(0) : 0;
}

FingerprintItem item_of(const OperatorStep& step, const OperatorCall& call, Ns time_ns, const KernelCounters& known) {
  FingerprintItem item;
  item.stage = step.stage;
  item.name = call.name;
  item.type = key_of(call.type);
  item.shape = call.shapes;
  item.time_ns = time_ns;
  CounterMean mean;
  for (const OperatorKernel& kernel : call.kernels)
    if (const auto found = known.find(kernel.name); found != known.end()) mean.add(found->second, static_cast<double>(kernel.total_ns));
  item.counters = mean.result();
  return item;
}

std::vector<FingerprintItem> operator_items(const Run& run, const DevicePeaks* peaks) {
  const KernelCounters known = counters_by_name(run, peaks);
  std::vector<FingerprintItem> items;
  for (const OperatorStep* step : steps_with_operators(run)) {
    const bool gpu = on_gpu(*step);
    for (const OperatorCall& call : step->calls)
      if (const Ns time_ns = time_of(call, gpu); time_ns > 0) items.push_back(item_of(*step, call, time_ns, known));
  }
  return items;
}

std::vector<FingerprintItem> kernel_items(const Run& run, const DevicePeaks* peaks) {
  std::vector<FingerprintItem> items;
  if (!run.kernels) return items;
  for (const KernelEntry& kernel : *run.kernels) {
    if (kernel.time.total_ns <= 0) continue;
    FingerprintItem item;
    item.name = kernel.short_name.empty() ? kernel.name : kernel.short_name;
    item.type = key_of(classify_kernel(kernel.name));
    item.shape = kernel_key(kernel);
    item.time_ns = kernel.time.total_ns;
    item.counters = fingerprint_counters(run, kernel, peaks);
    items.push_back(std::move(item));
  }
  return items;
}

// The dtype with the most FLOP/s among those that inference computes in: the tensor cores' 16 bits.
std::optional<double> ridge_of(const DevicePeaks* peaks) {
  if (peaks == nullptr || !peaks->bytes_per_s || !(*peaks->bytes_per_s > 0)) return std::nullopt;
  for (const char* dtype : {"bf16", "f16", "f32"})
    if (const auto found = peaks->flops_per_s.find(dtype); found != peaks->flops_per_s.end() && found->second > 0)
      return found->second / *peaks->bytes_per_s;
  return std::nullopt;
}

void sign(std::vector<FingerprintItem>& items) {
  std::map<std::string, std::uint32_t> seen;
  for (FingerprintItem& item : items) {
    const std::string what = fmt::format("{}\n{}", item.type, item.shape);
    item.index = seen[item.stage + "\n" + what]++;
    item.signature = stable_hash_text(fmt::format("{}\n{}", what, item.index), 16);
  }
}

void fill_vectors(Fingerprint& fingerprint) {
  double total = 0;
  for (const FingerprintItem& item : fingerprint.items) total += static_cast<double>(item.time_ns);
  for (FingerprintItem& item : fingerprint.items) {
    const FingerprintCounters& counted = item.counters;
    const double intensity = counted.intensity.value_or(0);
    item.vector = {static_cast<double>(item.time_ns) / total,
                   fingerprint.ridge && intensity > 0 ? intensity / (intensity + *fingerprint.ridge) : 0,
                   counted.occupancy.value_or(0),
                   counted.warp_efficiency.value_or(0),
                   counted.l2_hit.value_or(0),
                   counted.dram_use.value_or(0)};
  }
}

}  // namespace

Fingerprint make_fingerprint(const Run& run, std::optional<FingerprintKind> kind, const DevicePeaks* peaks) {
  if (peaks == nullptr && run.peaks) peaks = &*run.peaks;
  Fingerprint out{run.run_id,
                  hardware_key(run),
                  run.model.name,
                  kind.value_or(FingerprintKind::kOperators),
                  peaks ? peaks->name : "",
                  ridge_of(peaks),
                  {},
                  {},
                  {}};
  if (out.kind == FingerprintKind::kOperators) out.items = operator_items(run, peaks);
  if (out.kind == FingerprintKind::kKernels || (!kind && out.items.empty())) {
    out.kind = FingerprintKind::kKernels;
    out.items = kernel_items(run, peaks);
  }
  sign(out.items);
  fill_vectors(out);
  const auto& refused = run.provenance.counters_missing;
  if (refused && refused->code != Code::kCountersOff)
    out.counters_refused = refused->fix.empty() ? refused->what : refused->what + " " + refused->fix;
  else out.counters_command = run_again({"--config", "deep"}, run.workload.command, run.session.has_value());
  return out;
}

}  // namespace nl::analysis
