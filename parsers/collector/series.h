#pragma once

#include "parsers/collector/gpu.h"

namespace nl::parsers::collector_trace {

// Puts the samples and stalls of the files of a run into the trace. Series of the same GPU, metrics and interval
// become one, in the order of time; stalls of one kernel on one GPU are added up.
void add_series(GpuMetrics& metrics, Ns origin_ns, Trace& trace);
void add_stalls(const GpuData& gpu, Trace& trace);
void finish_series(Trace& trace);

}  // namespace nl::parsers::collector_trace
