#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "model/trace.h"

// The stretch of a thread's time that GPU work belongs to: the ranges around it are the work's operator, layer and line.
// For a RangeIndex: enclosing(origin.thread, origin.start_ns, origin.end_ns, …).
namespace nl::analysis {

struct WorkOrigin {
  std::uint32_t thread = kNone;  // kNone: not known
  Ns start_ns = 0, end_ns = 0;
  friend bool operator==(const WorkOrigin&, const WorkOrigin&) = default;
};

// The call that launched the work; for a kernel of a CUDA graph, the launch of the graph. Stages count work by it.
WorkOrigin launch_of(const Trace& trace, std::uint32_t api);

// For a node of a CUDA graph the moment at which it was made, where that is known; else the launch.
WorkOrigin origin_of_kernel(const Trace& trace, std::size_t kernel);
WorkOrigin origin_of_mem_op(const Trace& trace, std::size_t mem_op);

// The share of the time of CUDA graphs' kernels, copies and sets for which it is not known where their nodes were made. Empty: there
// are no such graphs.
std::optional<double> graph_unjoined_share(const Trace& trace);

// Index into Trace::graph_nodes, or kNone.
std::uint32_t node_of_kernel(const Trace& trace, std::size_t kernel);
std::uint32_t node_of_mem_op(const Trace& trace, std::size_t mem_op);

}  // namespace nl::analysis
