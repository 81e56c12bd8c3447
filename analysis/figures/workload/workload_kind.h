#pragma once

#include <vector>

#include "analysis/figures/latency/token_timeline.h"
#include "analysis/staging/staged_trace.h"
#include "model/run.h"

namespace nl::analysis {

// Where stages of several kinds were found, the kind that takes the most time.
WorkloadVerdict workload_kind(const StagedTrace& staged, const std::vector<StageEntry>& stages, const TokenCounts& configured);

}  // namespace nl::analysis
