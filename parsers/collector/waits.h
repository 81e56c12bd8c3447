#pragma once

#include "parsers/collector/gpu.h"

namespace nl::parsers::collector_trace {

// Where the collector was not asked for CUPTI's records of waits (they slow every launch): the calls that wait tell
// when, and of what kind. For which stream, the collector notes beside them; else it is known where there is only one.
void add_waits_of_calls(GpuData& gpu);

}  // namespace nl::parsers::collector_trace
