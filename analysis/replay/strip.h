#pragma once

#include <utility>

#include "analysis/replay/replay_graph.h"
#include "analysis/staging/windows.h"
#include "model/prediction.h"

namespace nl::analysis {

// What happens in a window of a replay, from `span.first` to `span.second` of it. As fine as a page can draw it.
WindowStrip window_strip(const Trace& trace, const ReplayGraph& graph, const Replayed& replayed, const Window& window,
                         const std::pair<Ns, Ns>& span);

}  // namespace nl::analysis
