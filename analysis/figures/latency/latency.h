#pragma once

#include <vector>

#include "analysis/figures/latency/token_timeline.h"
#include "analysis/staging/staged_trace.h"
#include "model/run.h"

namespace nl::analysis {

// Sets the stages' tokens and returns what the iterations say about latency. Marks of the workload ("tokens
// prompt=256 batch=2") go before the configuration; where the two, or the steps that were found, contradict each
// other a note says so. Without a batch, tokens are those of one sequence, and a note says that too.
Latency derive_latency(const StagedTrace& staged, const TokenCounts& configured, std::vector<StageEntry>& stages);

}  // namespace nl::analysis
