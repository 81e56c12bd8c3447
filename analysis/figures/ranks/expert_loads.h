#pragma once

#include <vector>

#include "analysis/figures/ranks/lane_times.h"
#include "analysis/figures/ranks/rank_steps.h"
#include "model/ranks.h"

namespace nl::analysis {

// What the experts of each group of ranks compute, those that cost the most first. Two things have to tell of experts: collectives in which all members of
// a group give something to all others, and kernels between one and the next that are products of experts by their names. Nothing of a group where what
// its GPUs compute elsewhere does not tell how fast they are.
std::vector<ExpertLoad> expert_loads(const Trace& trace, const SharedCollectives& shared, const RankSteps& steps, const GpuLanes& lanes,
                                     const std::vector<LaneTimes>& work);

}  // namespace nl::analysis
