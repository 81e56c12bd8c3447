#pragma once

#include <optional>
#include <vector>

#include "analysis/figures/overhead/decision.h"
#include "analysis/staging/staged_trace.h"
#include "model/perturbation.h"
#include "model/run.h"

// A capture that traced some of the steps (capture.duty): what part of each stage it saw, and what that says of the rest.
namespace nl::analysis {

// Windows of a row follow each other: they are alike, and were drawn together.
struct RowSum {
  std::uint64_t windows = 0;
  double sum = 0;
};

// Half of the 95 % interval of the mean of all windows ÷ their mean, from the rows that were drawn of them. The rows are the sample, not their
// windows: the interval comes from how far rows differ. Nothing where there are fewer than kEnoughRows, or nothing else is to be told of.
std::optional<double> sampling_error(const std::vector<RowSum>& rows, std::uint64_t windows);

// One of each stage, in the order of the trace's windows; empty where all was traced.
std::vector<SampledStage> sampled_stages(const Trace& trace);

// Traced windows against untraced ones of the same process, in turns: each row against the untraced windows before and after it, as many as it
// has on either side. Stages with fewer than kEnoughRows such rows are left out.
std::vector<StageSlowdown> slowdown_by_turns(const Trace& trace, const OverheadRule& rule);

}  // namespace nl::analysis
