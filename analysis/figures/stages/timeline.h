#pragma once

#include <optional>

#include "analysis/staging/iterations.h"
#include "model/timeline.h"
#include "model/trace.h"

namespace nl::analysis {

inline constexpr std::size_t kMaxTimelineSlices = 3000;

// The median measured iteration; where there are none, the capture, or its middle where it is long. One lane for
// each level of a thread's ranges (those of stages first), for its calls and for each GPU queue. Where a lane is
// crowded, short neighbours become one slice with the name of the longest. Nothing where nothing was captured.
std::optional<Timeline> draw_timeline(const Trace& trace, const IterationPlan& plan);

}  // namespace nl::analysis
