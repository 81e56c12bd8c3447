#pragma once

#include <vector>

#include "analysis/attribution/gpu_pass.h"
#include "analysis/stages/phases.h"
#include "analysis/stages/stages.h"
#include "analysis/stages/windows.h"
#include "model/run.h"

namespace nl::analysis {

// One entry for each stage of the table, in its order.
std::vector<StageEntry> stage_entries(const Trace& trace, const StageTable& table, const std::vector<Window>& windows, const GpuPass& pass);

Phases phase_figures(const Trace& trace, const StageTable& table, const std::vector<Window>& windows, const PhasePartition& partition,
                     const GpuPass& pass);

}  // namespace nl::analysis
