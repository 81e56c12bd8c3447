#pragma once

#include <utility>
#include <vector>

#include "analysis/account/gpu_pass.h"
#include "analysis/figures/energy/energy.h"
#include "analysis/staging/phases.h"
#include "analysis/staging/stage_table.h"
#include "analysis/staging/windows.h"
#include "model/run.h"
#include "model/stage.h"

namespace nl::analysis {

// One entry for each stage of the table, in its order.
std::vector<StageEntry> stage_entries(const Trace& trace, const StageTable& table, const std::vector<Window>& windows, const GpuPass& pass);

Phases phase_figures(const Trace& trace, const StageTable& table, const std::vector<Window>& windows, const PhasePartition& partition,
                     const GpuPass& pass);

// Windows as start and length, in any order. At most kMaxListedWindows values; where there are more windows, each is the median of
// several that follow each other, and an incomplete group at the end is dropped, so that every value stands for the same number of windows.
WindowSeries window_series(std::vector<std::pair<Ns, Ns>> windows);

// Removes from the stages' series the windows in which the GPU was slowed. A reading holds until the next one.
void leave_out_throttled(const SampledPass& traced, std::vector<StageEntry>& stages);

}  // namespace nl::analysis
