#pragma once

#include <vector>

#include "model/operator.h"
#include "model/run.h"
#include "model/session.h"

namespace nl::analysis {

// A session as a whole: how long its iterations take, and how much of that its operators explain.
SessionEntry session_figures(const ModelSession& session);

// The operators of a model that was run, added up by type over all iterations.
OperatorTable table_of(const ModelSession& session);

// A step for each set of iterations that ran the same nodes with the same shapes, node by node; the set with the most time comes
// first. Where shapes change nearly every time, as those of a growing cache, iterations with the same nodes
// are one set, and the shapes are those of its median iteration.
std::vector<OperatorStep> steps_of(const ModelSession& session);

}  // namespace nl::analysis
