#pragma once

#include <vector>

#include "model/trace.h"
#include "model/work_rows.h"
#include "parsers/nsys/correlation.h"
#include "parsers/nsys/database.h"
#include "parsers/nsys/graph_nodes.h"
#include "parsers/nsys/records.h"
#include "parsers/nsys/strings.h"

// The tables of an export, each into its part of the trace.
namespace nl::parsers {

// TARGET_INFO_…: who captured, when and for how long, on which GPUs.
void read_capture_facts(const NsysDatabase& database, Trace& trace);

// CUPTI_ACTIVITY_KIND_{KERNEL,MEMCPY,MEMSET,GRAPH_TRACE}. Until Launches::link(), `api` of what they read
// is the correlation id. `nodes`: those that rows ran from; nullptr: they are not needed.
void read_kernels(const NsysDatabase& database, NsysStrings& strings, NsysPlaces& places, GraphNodes* nodes, Trace& trace);
void read_mem_ops(const NsysDatabase& database, NsysStrings& strings, NsysPlaces& places, GraphNodes* nodes, Trace& trace);
void read_graph_runs(const NsysDatabase& database, NsysPlaces& places, Trace& trace);

// CUDA_GRAPH_NODE_EVENTS: when and on which thread nodes were made.
bool has_node_events(const NsysDatabase& database);
void link_graph_nodes(const NsysDatabase& database, const GraphNodes& nodes, NsysPlaces& places, Trace& trace);

// CUPTI_ACTIVITY_KIND_RUNTIME. Every call goes into api_stats, in the order of the name ids, which is the
// order nsys falls back on; those that launched GPU work or waited for it also become api_calls, sorted
// by thread and start.
void read_api_calls(const NsysDatabase& database, const Launches& launches, NsysStrings& strings, NsysPlaces& places, Trace& trace,
                    bool all_calls = false);

// The same tables without keeping their rows, which are handed on in stretches of each part, the parts side by side. Nothing to take: only times and
// names are read. Durations are kept by name: those of calls in api_stats, those of kernels, which are returned, unless their rows are taken.
// Not `whose`: the export does not say of which process the GPU work is, so that all of it and all calls are of one.
void sum_api_calls(const NsysDatabase& database, const std::vector<RowSpan>& spans, const TakeCalls& take, bool whose, NsysStrings& strings,
                   NsysPlaces& places, Trace& trace);
std::vector<ApiStat> sum_kernels(const NsysDatabase& database, const std::vector<RowSpan>& spans, const TakeWork& take, bool whose,
                                 NsysStrings& strings, NsysPlaces& places, Trace& trace);

// What the host did besides calling CUDA, of the threads that the places know by then: those that call CUDA. An export without these tables
// has nothing of it, which is not a fault: both are options of nsys.
// OSRT_API: the calls of at least kLongCallNs, by thread and start.
void read_os_calls(const NsysDatabase& database, NsysStrings& strings, const NsysPlaces& places, Trace& trace);
// COMPOSITE_EVENTS and SAMPLING_CALLCHAINS: native stacks, file is the library.
void read_host_samples(const NsysDatabase& database, NsysStrings& strings, const NsysPlaces& places, Trace& trace);

// CUPTI_ACTIVITY_KIND_SYNCHRONIZATION: for which stream or context calls waited, with the times of the calls, which must be read before.
std::vector<SyncWait> read_waits(const NsysDatabase& database, const NsysPlaces& places, const Trace& trace);

// NVTX_EVENTS: ranges and marks with the names of their domains. A range that was never closed ends with
// the capture, so trace.duration_ns must be known before.
void read_ranges(const NsysDatabase& database, NsysStrings& strings, NsysPlaces& places, Trace& trace);

// The names of the processes and threads that the trace refers to.
void read_place_names(const NsysDatabase& database, NsysStrings& strings, const NsysPlaces& places, Trace& trace);

}  // namespace nl::parsers
