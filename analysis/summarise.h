#pragma once

#include <string>
#include <vector>

#include "model/run.h"
#include "model/trace.h"

namespace nl {

struct SummaryOptions {
  std::vector<std::string> stages = {"prefill", "decode"};
  std::size_t top_n_kernels = 10;
};

// Fills stages, kernels, api, ranges, coverage and import_stats of the run, and marks the top-N kernels
// (by GPU time inside the chosen stages) as selected.
void summarise(const Trace& trace, const SummaryOptions& options, Run& run);

}  // namespace nl
