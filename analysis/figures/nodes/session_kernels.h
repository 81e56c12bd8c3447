#pragma once

#include <string>

#include "analysis/figures/operators/operators.h"

namespace nl::analysis {

// GPU times and kernels for the nodes of a session that the backend ran. A backend that is called at each operator opens a range for it,
// by which the trace has joined kernels to the same calls; where both list the same operators in the same order, what the trace knows of
// a call belongs to its node. Each is listed once then: the steps of the trace and the backend's sums without GPU times, which say less,
// are left out.
void add_kernels_to_nodes(const std::string& backend, OperatorFigures& figures);

}  // namespace nl::analysis
