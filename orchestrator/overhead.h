#pragma once

#include "model/run.h"
#include "orchestrator/evidence.h"

namespace nl::orchestrator {

// What profiling cost: unprofiled passes against traced ones. A note says why where it was not measured.
Perturbation measure_overhead(const Evidence& evidence, const analysis::WarmupRule& warmup);

// Joules and clocks of the stages of a run whose trace is analysed.
Energy measure_energy(const Evidence& evidence, const analysis::WarmupRule& warmup, const Run& run);

// Takes the windows that ran on a slowed GPU out of the stages' series.
void leave_out_throttled(const Evidence& evidence, const analysis::WarmupRule& warmup, Run& run);

}  // namespace nl::orchestrator
