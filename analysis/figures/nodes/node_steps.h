#pragma once

#include <vector>

#include "model/operator.h"
#include "model/trace.h"

namespace nl::analysis {

// The nodes of a profile of a model file (Trace::session), one by one, with the kernels that each launches.
std::vector<OperatorStep> node_steps(const Trace& trace);

}  // namespace nl::analysis
