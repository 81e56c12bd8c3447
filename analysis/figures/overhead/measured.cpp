#include "analysis/figures/overhead/measured.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "analysis/figures/energy/energy.h"
#include "analysis/figures/overhead/perturbation.h"
#include "analysis/figures/stages/stage_entries.h"
#include "model/words.h"

namespace nl::analysis {
namespace {

Ns duration_of(const Evidence& evidence, PassKind kind) {
  Ns duration_ns = 0;
  for (const PassRecord& record : evidence.passes)
    if (record.kind == kind && record.outcome == PassOutcome::kOk) duration_ns = record.duration_ns;
  return duration_ns;
}

bool ran_graph(const Trace& trace, std::int32_t device) {
  return std::any_of(trace.graph_runs.begin(), trace.graph_runs.end(),
                     [&](const GraphRun& run) { return run.queue < trace.queues.size() && trace.queues[run.queue].device == device; });
}

// The meters' numbers of the GPUs that ran kernels, or graphs of them; all where that is not known.
std::set<std::int32_t> used_devices(const Trace& trace, const std::optional<std::vector<KernelEntry>>& kernels,
                                    const std::vector<std::string>& uuids) {
  std::set<std::int32_t> used;
  if (!kernels) return used;
  for (const Device& device : trace.devices) {
    const bool busy =
        std::any_of(kernels->begin(), kernels->end(), [&](const KernelEntry& kernel) { return kernel.device == device.id; }) ||
        ran_graph(trace, device.id);
    // NVML: "GPU-03332c53-ff42-…", nsys: the same without its beginning.
    for (std::size_t i = 0; busy && !device.uuid.empty() && i < uuids.size(); ++i)
      if (uuids[i].ends_with(device.uuid)) used.insert(static_cast<std::int32_t>(i));
  }
  return used;
}

void keep_used(SampledPass& pass, const std::set<std::int32_t>& used) {
  if (!used.empty()) std::erase_if(pass.samples, [&](const PowerSample& sample) { return !used.contains(sample.device); });
}

void add_tokens(SampledPass& pass, const std::vector<StageEntry>& stages) {
  for (StageWindows& stage : pass.stages)
    for (const StageEntry& entry : stages)
      if (entry.name == stage.stage) stage.tokens_per_window = entry.tokens_per_window;
}

}  // namespace

Perturbation measured_overhead(const Evidence& evidence, const StagedTrace& staged) {
  const Repeats& repeats = evidence.repeats;
  std::vector<PassTimes> passes = repeats.before;
  const bool traced = evidence.tracer != Tracer::kCupti || evidence.trace.has_kernel_data;
  const bool compared =
      !passes.empty() || std::any_of(repeats.after.begin(), repeats.after.end(), [](const auto& pass) { return !pass.profiled(); });
  if (!compared || !traced) {
    Perturbation none;
    none.note = !compared ? evidence.overhead_note : "overhead not measured: no GPU work was recorded";
    none.notes = repeats.notes;
    return none;
  }
  const PassKind tracer = tracing_pass(evidence.tracer);
  if (evidence.captured_any) passes.push_back(pass_times(tracer, staged, duration_of(evidence, tracer)));
  passes.insert(passes.end(), repeats.after.begin(), repeats.after.end());
  if (const Ns ncu_ns = duration_of(evidence, PassKind::kNcu); ncu_ns > 0) passes.push_back({PassKind::kNcu, {}, ncu_ns});
  Perturbation result = compare_passes(passes);
  result.notes.insert(result.notes.end(), repeats.notes.begin(), repeats.notes.end());
  return result;
}

std::vector<StageEntry> without_throttled(const Evidence& evidence, const StagedTrace& staged,
                                          const std::optional<std::vector<KernelEntry>>& kernels, std::vector<StageEntry> stages) {
  if (!evidence.meter_uuids || evidence.power.empty()) return stages;
  SampledPass traced{evidence.power, stage_windows(staged, {})};
  keep_used(traced, used_devices(evidence.trace, kernels, *evidence.meter_uuids));
  leave_out_throttled(traced, stages);
  return stages;
}

Energy measured_energy(const Evidence& evidence, const StagedTrace& staged, const std::optional<std::vector<KernelEntry>>& kernels,
                       const std::vector<StageEntry>& stages) {
  Energy energy;
  energy.note = evidence.power_note;
  if (!evidence.meter_uuids) return energy;
  std::vector<SampledPass> passes = evidence.repeats.unprofiled_power;
  std::string name(key_of(PassKind::kUnprofiled));
  // Unprofiled where there is such a pass: tracing costs energy too.
  if (passes.empty()) {
    name = key_of(tracing_pass(evidence.tracer));
    passes.push_back({evidence.power, stage_windows(staged, {})});
  }
  const auto used = used_devices(evidence.trace, kernels, *evidence.meter_uuids);
  for (SampledPass& pass : passes) {
    keep_used(pass, used);
    add_tokens(pass, stages);
  }
  energy = measure_energy(name, passes);
  if (used.empty() && evidence.meter_uuids->size() > 1 && energy.note.empty())
    energy.note = fmt::format("which GPUs the workload used is not known: the joules are those of all {}", evidence.meter_uuids->size());
  return energy;
}

}  // namespace nl::analysis
