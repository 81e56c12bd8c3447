#pragma once

#include "model/trace.h"
#include "parsers/nsys/database.h"
#include "parsers/nsys/records.h"
#include "parsers/nsys/strings.h"

// CUPTI_ACTIVITY_KIND_{KERNEL,MEMCPY,MEMSET,GRAPH_TRACE}. Until Launches::link(), `api` of what they read
// is the correlation id.
namespace nl::parsers {

void read_kernels(const NsysDatabase& database, NsysStrings& strings, NsysPlaces& places, Trace& trace);
void read_mem_ops(const NsysDatabase& database, NsysStrings& strings, NsysPlaces& places, Trace& trace);
void read_graph_runs(const NsysDatabase& database, NsysPlaces& places, Trace& trace);

}  // namespace nl::parsers
