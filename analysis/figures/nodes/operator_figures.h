#pragma once

#include "analysis/figures/operators/operators.h"
#include "analysis/staging/staged_trace.h"
#include "model/evidence.h"

namespace nl::analysis {

// Operators and layers of the capture, of a session's nodes, and of all that was recorded beside the capture, each a table of its own.
OperatorFigures operator_figures(const Evidence& evidence, const StagedTrace& staged, const WarmupRule& warmup);

}  // namespace nl::analysis
