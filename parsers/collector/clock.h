#pragma once

#include "model/trace.h"

namespace nl::parsers::collector_trace {

// Works out how well the GPU's times fit the CPU's, and notes it: see ClockBounds.
void note_clocks(Trace& trace);

}  // namespace nl::parsers::collector_trace
