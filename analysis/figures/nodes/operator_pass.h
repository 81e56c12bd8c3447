#pragma once

#include <span>
#include <string>

#include "analysis/staging/warmup.h"
#include "model/operator.h"
#include "model/run.h"
#include "model/trace.h"

namespace nl::analysis {

// Run::operators, Run::layers and Run::operator_steps from the operator pass: its ranges say what is called, the clean pass how long
// that takes and how often. OperatorTable::note says what the table rests on.
void add_operator_pass(const Trace& clean, const Trace& pass, std::span<const OperatorDtypes> dtypes, const WarmupRule& rule, Run& run);

// Adds to Run::operator_steps those of a trace that has the operators itself. `file`: imported from; empty: the capture.
void add_operator_steps(const Trace& trace, const WarmupRule& rule, const std::string& file, Run& run);

}  // namespace nl::analysis
