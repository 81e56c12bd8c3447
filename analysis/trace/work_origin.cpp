#include "analysis/trace/work_origin.h"

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

std::optional<double> graph_unjoined_share(const Trace& trace) {
  Ns all_ns = 0, unjoined_ns = 0;
  const auto add = [&](Ns duration_ns, std::uint32_t node) {
    all_ns += duration_ns;
    if (node == kNone) unjoined_ns += duration_ns;
  };
  for (std::size_t i = 0; i < trace.kernels.size(); ++i)
    if (trace.kernels[i].in_graph) add(static_cast<Ns>(trace.kernels[i].duration_ns), node_of_kernel(trace, i));
  for (std::size_t i = 0; i < trace.mem_ops.size(); ++i)
    if (trace.mem_ops[i].in_graph) add(trace.mem_ops[i].end_ns - trace.mem_ops[i].start_ns, node_of_mem_op(trace, i));
  if (all_ns == 0) return std::nullopt;
  return static_cast<double>(unjoined_ns) / static_cast<double>(all_ns);
}

WorkOrigin origin_of_kernel(const Trace& trace, std::size_t kernel) {
  return origin_of(trace, node_of_kernel(trace, kernel), trace.kernels[kernel].api);
}

WorkOrigin origin_of_mem_op(const Trace& trace, std::size_t mem_op) {
  return origin_of(trace, node_of_mem_op(trace, mem_op), trace.mem_ops[mem_op].api);
}

}  // namespace nl::analysis
