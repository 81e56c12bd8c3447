#pragma once

#include "model/run.h"
#include "model/trace.h"

namespace nl::analysis {

// Fills Run::clock from what the capture knows of its clocks, against the shortest of the run's stages.
void fill_clock(const Trace& trace, Run& run);

}  // namespace nl::analysis
