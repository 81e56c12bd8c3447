#pragma once

#include <vector>

#include "analysis/figures/ranks/shared_collectives.h"
#include "model/ranks.h"
#include "model/trace.h"

namespace nl::analysis {

// How fast the collectives of each group are whose size is known, those that take the longest first. Only kinds that all members leave together: there
// the shortest stay is that of the member that came last, whatever the clocks say. A group of which a member was not captured is left out.
std::vector<CollectiveRate> collective_rates(const Trace& trace, const SharedCollectives& shared);

// What each link carries ÷ the bytes of a call, as nccl-tests have it: an all-reduce sends (n - 1) of n parts twice.
double bus_factor(Collective kind, std::size_t members);

// Sends and receives, by pair of ranks, those that wait the longest first.
std::vector<RankPair> rank_pairs(const Trace& trace, const SharedCollectives& shared);

}  // namespace nl::analysis
