#pragma once

#include <span>
#include <vector>

#include "model/operator.h"

namespace nl::analysis {

OperatorTimes times_of(std::vector<Ns> values);

// The same operators, in the same order, inside each other in the same way.
bool same_calls(const OperatorStep& a, const OperatorStep& b);

// Several iterations of the same step: the times of each call over all of them that have the same calls in the same order, and the
// median of their wall times. `iterations` has the step itself among them; host_ns and gpu_ns stay its own.
void add_times_of(std::span<const OperatorStep> iterations, OperatorStep& step);

}  // namespace nl::analysis
