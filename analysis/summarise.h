#pragma once

#include <string>
#include <vector>

#include "analysis/figures/latency/latency.h"
#include "analysis/staging/iterations.h"
#include "model/run.h"
#include "model/trace.h"

namespace nl::analysis {

struct SummaryOptions {
  std::vector<std::string> stages = {"prefill", "decode"};
  std::size_t top_n_kernels = 10;
  WarmupRule warmup = {};
  TokenCounts tokens = {};  // as the model's configuration has them
};

// Fills stages, phases, iterations, latency, timeline, kernels, api, ranges, coverage, activity, clock and import_stats
// of the run, and marks the top-N kernels (by GPU time inside the chosen stages) as selected. Figures of stages and
// phases leave warm-up iterations out; kernels, API calls and ranges are those of the whole capture.
void summarise(const Trace& trace, const SummaryOptions& options, Run& run);

// The kernels alone, as summarise() lists and selects them: for passes that still have to choose what they measure.
void list_kernels(const Trace& trace, const SummaryOptions& options, Run& run);

}  // namespace nl::analysis
