#pragma once

#include <vector>

#include "analysis/gpu_pass.h"
#include "analysis/phases.h"
#include "analysis/stages.h"
#include "analysis/windows.h"
#include "model/run.h"

namespace nl {

// One entry for each stage of the table, in its order.
std::vector<StageEntry> stage_entries(const Trace& trace, const StageTable& table, const std::vector<Window>& windows,
                                      const GpuPass& pass);

Phases phase_figures(const Trace& trace, const StageTable& table, const std::vector<Window>& windows,
                     const PhasePartition& partition, const GpuPass& pass);

}  // namespace nl
