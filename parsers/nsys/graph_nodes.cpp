#include "parsers/nsys/graph_nodes.h"

#include <algorithm>
#include <tuple>

#include "parsers/nsys/tables.h"

namespace nl::parsers {
namespace {

constexpr int kLongestChain = 64;  // of clones; a damaged file may have them go in a circle

// The events by node; of a node, that of its cloning first.
class MadeNodes {
 public:
  explicit MadeNodes(std::vector<NodeEvent>&& events) : events_(std::move(events)) {
    const auto order = [](const NodeEvent& event) {
      return std::tuple(event.node.global_pid, event.node.id, event.original == NodeEvent::kNotCloned, event.time_ns);
    };
    std::sort(events_.begin(), events_.end(), [&](const NodeEvent& a, const NodeEvent& b) { return order(a) < order(b); });
  }

  // Of the node that this one is a clone of, at however many removes; nothing where that is not in the capture.
  const NodeEvent* making_of(const RawNode& node) const {
    const NodeEvent* event = first_of(node);
    for (int i = 0; event != nullptr && event->original != NodeEvent::kNotCloned; ++i)
      event = i < kLongestChain ? first_of({node.global_pid, event->original}) : nullptr;
    return event;
  }

 private:
  const NodeEvent* first_of(const RawNode& node) const {
    const auto key = [](const RawNode& n) { return std::tuple(n.global_pid, n.id); };
    auto found = std::lower_bound(events_.begin(), events_.end(), node,
                                  [&](const NodeEvent& event, const RawNode& wanted) { return key(event.node) < key(wanted); });
    return found != events_.end() && found->node == node ? &*found : nullptr;
  }

  std::vector<NodeEvent> events_;
};

constexpr const char* kNodeEvents = "CUDA_GRAPH_NODE_EVENTS";

}  // namespace

void GraphNodes::link(std::vector<NodeEvent> events, const ThreadOf& thread_of, Trace& trace) const {
  const MadeNodes made(std::move(events));
  const auto link_rows = [&](const Stretches& stretches, std::vector<std::uint32_t>& of_row, std::size_t rows) {
    for (const auto& [first, stretch] : stretches) {
      std::vector<std::uint32_t> numbers;
      const std::size_t before = trace.graph_nodes.size();
      for (const RawNode& node : stretch.nodes()) {
        const NodeEvent* event = made.making_of(node);
        numbers.push_back(event == nullptr ? kNone : static_cast<std::uint32_t>(trace.graph_nodes.size()));
        if (event != nullptr) trace.graph_nodes.push_back({thread_of(event->thread), event->time_ns});
      }
      if (trace.graph_nodes.size() == before) continue;
      of_row.resize(first, kNone);
      for (const std::uint32_t number : stretch.of_row()) of_row.push_back(number == kNone ? kNone : numbers[number]);
    }
    if (!of_row.empty()) of_row.resize(rows, kNone);
  };
  link_rows(kernels_, trace.kernel_nodes, trace.kernels.size());
  link_rows(mem_ops_, trace.mem_op_nodes, trace.mem_ops.size());
}

// Without the originals a clone looks like a node that was made.
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
