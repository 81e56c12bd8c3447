#pragma once

#include "model/trace.h"
#include "orchestrator/capture/launch.h"

namespace nl::orchestrator {

// The ncu pass over the kernels that the run marked as selected: planned, run, checked, tried once more in
// the way likeliest to work, read, and joined to the kernels that nsys timed. What is missing is said, on
// each kernel (ncu_note) and in the verdict.
void launch_ncu(const Config& config, const Toolset& tools, const Trace& trace, const Bundle& bundle,
                PassRunner& passes, Verdict& verdict, Run& run);

}  // namespace nl::orchestrator
