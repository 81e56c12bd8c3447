#pragma once

#include <span>
#include <string>

#include "analysis/figures/operators/operators.h"
#include "analysis/staging/staged_trace.h"
#include "model/operator.h"
#include "model/trace.h"

namespace nl::analysis {

// Operators, their steps and layers from the operator pass: its ranges say what is called, the clean pass how long that takes and
// how often. OperatorTable::note says what the table rests on.
void add_operator_pass(const StagedTrace& clean, const Trace& pass, std::span<const OperatorDtypes> dtypes, OperatorFigures& figures);

// Adds the operator steps of a trace that has the operators itself. `file`: imported from; empty: the capture.
void add_operator_steps(const StagedTrace& staged, const std::string& file, OperatorFigures& figures);

}  // namespace nl::analysis
