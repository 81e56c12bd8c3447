#pragma once

#include <string>
#include <vector>

#include "analysis/figures/operators/range_tally.h"
#include "model/operator.h"

namespace nl::analysis {

// Groups that have calls, the one with the most GPU time of its own first; ties by host time, then name.
std::vector<std::uint32_t> by_time(const RangeTally& tally, const std::vector<std::string>& names);

// The kernels, copies and sets with the most time that were launched inside.
std::vector<OperatorKernel> top_work(const Trace& trace, const GroupTime& time, std::size_t top);

}  // namespace nl::analysis
