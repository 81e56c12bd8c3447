#pragma once

#include <vector>

#include "model/ranks.h"
#include "model/trace.h"

namespace nl::analysis {

// The ranks of a trace that was joined of their captures, with how late each was, in the whole capture.
std::vector<RankEntry> rank_figures(const Trace& trace);

}  // namespace nl::analysis
