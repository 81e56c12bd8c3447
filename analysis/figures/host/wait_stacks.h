#pragma once

#include <vector>

#include "analysis/account/launch_waits.h"
#include "analysis/figures/host/host_work.h"
#include "model/run.h"

namespace nl::analysis {

inline constexpr std::size_t kMaxWaitStacks = 2000;

// The stacks of all stages' waits for launches, and who looked.
HostStacks wait_stacks(const Trace& trace, const HostWorks& works, const std::vector<HostHits>& hits,
                       const std::vector<StageEntry>& stages);

}  // namespace nl::analysis
