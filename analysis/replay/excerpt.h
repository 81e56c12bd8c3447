#pragma once

#include "analysis/replay/replay_graph.h"

namespace nl::analysis {

// What begins in that time, as if nothing had been before: calls whose predecessor is not in it, and work whose launch is not, begin as measured.
ReplayGraph excerpt(const ReplayGraph& graph, Ns from_ns, Ns to_ns);

}  // namespace nl::analysis
