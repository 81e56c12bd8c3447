#pragma once

#include <vector>

#include "analysis/figures/ranks/shared_collectives.h"
#include "analysis/trace/covered_time.h"
#include "model/ranks.h"
#include "model/trace.h"

namespace nl::analysis {

// What the GPUs of each rank did in its spans; where none has any, from the first work of all ranks to the last. By index into Trace::ranks.
std::vector<RankBudget> rank_budgets(const Trace& trace, const SharedCollectives& shared, const std::vector<Spans>& spans);

}  // namespace nl::analysis
