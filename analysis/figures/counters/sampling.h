#pragma once

#include <optional>
#include <vector>

#include "analysis/staging/staged_trace.h"
#include "model/run.h"
#include "model/trace.h"

// What samples of the GPU's counters and of its warps' program counters say of stages, kernels and the whole capture.
namespace nl::analysis {

inline constexpr std::size_t kMostCurveValues = 600;

// StageEntry::sampling of each of the stages: means over the samples that overlap the stage's measured windows, each weighted by how much
// of it does, on the GPUs that the stage used; rates of sums are added up over these, all else is their mean. DRAM % waits
// for the peaks, unless the GPU says it: add_dram_use. A counter that adds up ("dram__bytes_read.sum") becomes a rate
// and is called so ("dram__bytes_read.sum.per_second"), because samples may differ in length.
std::vector<std::optional<StageSampling>> stage_sampling(const StagedTrace& staged, const std::vector<StageEntry>& stages);

// Run::activity: the main metrics over the time from the first sample to the last.
std::vector<ActivityCurve> activity_curves(const Trace& trace);

// Fills KernelEntry::stalls. CUPTI counts a reason twice: "…_stalled_wait" in all samples, "…_stalled_wait_not_issued"
// in those of them in which the scheduler issued nothing for any warp. The second is part of the first and left
// out. "selected" is not a stall: that warp issued. What names no reason (samples dropped, a full buffer) has no share.
// False where the samples are of none of the kernels.
bool add_stalls(const Trace& trace, std::vector<KernelEntry>& kernels);

}  // namespace nl::analysis
