#pragma once

#include <vector>

#include "analysis/account/gpu_pass.h"
#include "analysis/staging/phases.h"
#include "analysis/staging/stage_table.h"
#include "analysis/staging/windows.h"
#include "model/run.h"

namespace nl::analysis {

// One entry for each stage of the table, in its order.
std::vector<StageEntry> stage_entries(const Trace& trace, const StageTable& table, const std::vector<Window>& windows, const GpuPass& pass);

Phases phase_figures(const Trace& trace, const StageTable& table, const std::vector<Window>& windows, const PhasePartition& partition,
                     const GpuPass& pass);

}  // namespace nl::analysis
