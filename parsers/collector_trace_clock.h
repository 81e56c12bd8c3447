#pragma once

#include "model/trace.h"

namespace nl::collector_trace {

// Writes down how well the GPU's times fit the CPU's. No kernel starts before the call that launched it and none
// ends after a wait for it has returned: how near they come to either bounds the error of CUPTI's conversion.
void note_clocks(Trace& trace);

}  // namespace nl::collector_trace
