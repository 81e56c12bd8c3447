#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "analysis/figures/operators/catalogue.h"
#include "analysis/figures/operators/range_tally.h"
#include "analysis/figures/operators/step_windows.h"
#include "model/operator.h"

namespace nl::analysis {

OperatorTimes times_of(std::vector<Ns> values);

// The same operators, in the same order, inside each other in the same way.
bool same_calls(const OperatorStep& a, const OperatorStep& b);

// Several iterations of the same step: the times of each call over all of them that have the same calls in the same order, and the
// median of their wall times. `iterations` has the step itself among them; host_ns and gpu_ns stay its own.
void add_times_of(std::span<const OperatorStep> iterations, OperatorStep& step);

struct StepRequest {
  const Trace& trace;
  const StepWindows& windows;
  RangeSource source;
  const Catalogue& catalogue;                                                        // of that source
  std::function<double(const std::string& stage, const WorkRow& row)> time_ns = {};  // in the clean pass; none: as recorded
  std::span<const OperatorDtypes> dtypes = {};
  std::size_t max_calls = 5000;
};

// One step of each stage, operator by operator: of the windows with as many operators as most have, the one whose GPU time is the
// median. Its calls have their times in up to 16 of the others, too. Operators whose work a CUDA graph replays come where the graph is launched, in the order in which it was made.
std::vector<OperatorStep> operator_steps(const StepRequest& request);

}  // namespace nl::analysis
