#include "parsers/nsys/tables.h"

namespace nl::parsers {
namespace {

constexpr const char* kNodeEvents = "CUDA_GRAPH_NODE_EVENTS";

}  // namespace

// Without the originals a clone cannot be told from a node that was made.
bool has_node_events(const NsysDatabase& database) { return database.has_column(kNodeEvents, "originalGraphNodeId"); }

// start end eventClass globalTid nameId graphNodeId originalGraphNodeId
// 607036835 607036835 77 281485412139630 750 4294967296 –            made while a stream was captured
// 607078534 607078534 77 281485412139630 750 8589934592 –            made while that graph was instantiated,
// 607080401 607080401 77 281485412139630 750 8589934592 4294967296   as a clone
void link_graph_nodes(const NsysDatabase& database, const GraphNodes& nodes, NsysPlaces& places, Trace& trace) {
  if (nodes.empty()) return;
  enum { kStart, kThread, kNode, kOriginal };
  std::vector<NodeEvent> events;
  events.reserve(database.rows_of(kNodeEvents).count);
  NsysRows row = database.select(kNodeEvents, {"start", "globalTid", "graphNodeId", "originalGraphNodeId"});
  while (row.next()) {
    if (row.is_null(kStart) || row.is_null(kThread) || row.is_null(kNode)) continue;
    const std::int64_t thread = row.integer(kThread);
    events.push_back({{process_part(thread), row.integer(kNode)},
                      row.is_null(kOriginal) ? NodeEvent::kNotCloned : row.integer(kOriginal),
                      thread,
                      row.integer(kStart)});
  }
  trace.stats.rows_read[kNodeEvents] += events.size();
  nodes.link(std::move(events), [&](std::int64_t global_tid) { return places.thread(global_tid); }, trace);
}

}  // namespace nl::parsers
