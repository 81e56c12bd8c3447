#pragma once

#include "orchestrator/capture/capture.h"
#include "orchestrator/capture/pass_runner.h"

namespace nl::orchestrator {

// Runs the plan: the pass that traces, the passes around it that tell its cost, then those that count the kernels that the
// trace ranks first. Trouble goes to the runner's verdict; what there is by then is kept. With a runner that starts
// nothing the capture is empty.
Capture execute(const Plan& plan, Runner& runner);

}  // namespace nl::orchestrator
