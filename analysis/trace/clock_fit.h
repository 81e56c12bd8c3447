#pragma once

#include "model/run.h"
#include "model/trace.h"

namespace nl::analysis {

// How well the clocks of CPU and GPU fit each other, against the shortest of the stages.
ClockFit clock_fit(const Trace& trace, const std::vector<StageEntry>& stages);

}  // namespace nl::analysis
