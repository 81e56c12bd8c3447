#pragma once

#include <optional>

#include "analysis/figures/ranks/shared_collectives.h"
#include "model/ranks.h"

namespace nl::analysis {

// Ranks that called a collective which never ran, and those of their groups that did not call it: a kernel that does not end is in no capture, but the
// range of NCCL around its call is. Nothing where captures do not tell when they end or end at different times, where the wait is no longer than
// others were, or where all ranks have called one.
std::optional<RankHang> rank_hang(const Trace& trace, const SharedCollectives& shared);

}  // namespace nl::analysis
