#pragma once

#include <cstdint>
#include <vector>

#include "analysis/account/budget.h"
#include "analysis/account/gpu_sweep.h"
#include "analysis/staging/iterations.h"
#include "analysis/staging/phases.h"
#include "analysis/staging/windows.h"
#include "model/stage.h"

namespace nl::analysis {

// Everything that the pass over the GPU's work finds out.
struct GpuPass {
  GpuSweep sweep;
  BudgetSums budgets;                   // targets: the stages, those of the PhasePartition, the stages once more for their slow
                                        // windows, and one for all that lies inside any stage range, warm-up and open ones too
  std::vector<bool> slow;               // by window
  std::uint32_t first_slow = 0;         // target: the slow windows of the first stage
  std::vector<StageActivity> activity;  // by stage
};

GpuPass pass_over_gpu_work(const Trace& trace, const StageTable& table, const std::vector<std::uint32_t>& chosen, const IterationPlan& plan,
                           const std::vector<Window>& windows, const PhasePartition& phases);

}  // namespace nl::analysis
