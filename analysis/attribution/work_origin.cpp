#include "analysis/attribution/work_origin.h"

namespace nl::analysis {
namespace {

std::uint32_t node_of(const Trace& trace, const std::vector<std::uint32_t>& nodes, std::size_t row) {
  return row < nodes.size() && nodes[row] < trace.graph_nodes.size() ? nodes[row] : kNone;
}

WorkOrigin origin_of(const Trace& trace, std::uint32_t node, std::uint32_t api) {
  if (node == kNone) return launch_of(trace, api);
  const GraphNode& made = trace.graph_nodes[node];
  return {made.thread, made.made_ns, made.made_ns};
}

}  // namespace

WorkOrigin launch_of(const Trace& trace, std::uint32_t api) {
  if (api >= trace.api_calls.size()) return {};
  const ApiCall& call = trace.api_calls[api];
  return {static_cast<std::uint32_t>(call.thread), call.start_ns, call.end_ns()};
}

std::uint32_t node_of_kernel(const Trace& trace, std::size_t kernel) { return node_of(trace, trace.kernel_nodes, kernel); }

std::uint32_t node_of_mem_op(const Trace& trace, std::size_t mem_op) { return node_of(trace, trace.mem_op_nodes, mem_op); }

WorkOrigin origin_of_kernel(const Trace& trace, std::size_t kernel) {
  return origin_of(trace, node_of_kernel(trace, kernel), trace.kernels[kernel].api);
}

WorkOrigin origin_of_mem_op(const Trace& trace, std::size_t mem_op) {
  return origin_of(trace, node_of_mem_op(trace, mem_op), trace.mem_ops[mem_op].api);
}

}  // namespace nl::analysis
