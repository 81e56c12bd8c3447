#pragma once

#include <vector>

#include "analysis/account/budget.h"
#include "analysis/figures/host/blame.h"
#include "model/run.h"

namespace nl::analysis {

// StageEntry::gaps of each stage. `blame`: null where the host was not sampled.
std::vector<std::vector<StageGap>> stage_gaps(const Trace& trace, const BudgetSums& sums, const std::vector<StageEntry>& stages,
                                              const BlameTable* blame);

}  // namespace nl::analysis
