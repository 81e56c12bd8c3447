#pragma once

#include "orchestrator/capture/capture.h"
#include "orchestrator/capture/pass_runner.h"

namespace nl::orchestrator {

// The operator pass, and capture.operators from it. The trace is read by now: it and the facts of the processes say whether there
// are operators to record. Whatever goes wrong is noted in capture.adaptations and fails nothing.
void record_operators(const Plan& plan, std::span<const Pass> passes, PassRunner& runner, Capture& capture);

}  // namespace nl::orchestrator
