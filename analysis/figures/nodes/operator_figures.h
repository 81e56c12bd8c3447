#pragma once

#include <span>
#include <string>
#include <vector>

#include "analysis/figures/operators/operators.h"
#include "analysis/staging/staged_trace.h"
#include "model/evidence.h"
#include "model/operator.h"
#include "model/trace.h"

namespace nl::analysis {

// The nodes of a profile of a model file (Trace::session), one by one, with the kernels that each launches.
std::vector<OperatorStep> node_steps(const Trace& trace);

// Operators, their steps and layers from the operator pass: its ranges say what is called, the clean pass how long that takes and
// how often. OperatorTable::note says what the table rests on.
void add_operator_pass(const StagedTrace& clean, const Trace& pass, std::span<const OperatorDtypes> dtypes, OperatorFigures& figures);

// Adds the operator steps of a trace that has the operators itself. `file`: imported from; empty: the capture.
void add_operator_steps(const StagedTrace& staged, const std::string& file, OperatorFigures& figures);

// GPU times and kernels for the nodes of a session that the backend ran. A backend that is called at each operator opens a range for it,
// by which the trace has joined kernels to the same calls; where both list the same operators in the same order, what the trace knows of
// a call belongs to its node. Each is listed once then: the steps of the trace and the backend's sums without GPU times, which say less,
// are left out.
void add_kernels_to_nodes(const std::string& backend, OperatorFigures& figures);

// Operators and layers of the capture, of a session's nodes, and of all that was recorded beside the capture, each a table of its own.
OperatorFigures operator_figures(const Evidence& evidence, const StagedTrace& staged, const WarmupRule& warmup);

}  // namespace nl::analysis
