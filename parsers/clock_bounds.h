#pragma once

#include <vector>

#include "model/trace.h"

namespace nl::parsers {

// Works out how well the GPU's times fit the CPU's, and notes it: see ClockBounds. `syncs` are the waits for the GPU, with the times of the
// calls that waited; those for a stream or a context bound how early the GPU's times may be. Kernels, copies and graphs must be linked with
// the calls that launched them.
void note_clocks(const std::vector<SyncWait>& syncs, Trace& trace);

}  // namespace nl::parsers
