#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "model/trace.h"
#include "parsers/nsys/records.h"

// Kernels and copies of CUDA graphs, joined to where their nodes were made; the collector's files are joined so, too.
namespace nl::parsers {

// From which node each row of a stretch of a table ran.
class RowNodes {
 public:
  // Rows must come in ascending order; rows that are left out ran from no node.
  void add(std::size_t row, const RawNode& node) {
    of_row_.resize(row, kNone);
    of_row_.push_back(nodes_.index_of(node));
  }
  const std::vector<std::uint32_t>& of_row() const { return of_row_; }  // indices into nodes(), or kNone
  const std::vector<RawNode>& nodes() const { return nodes_.values(); }

 private:
  std::vector<std::uint32_t> of_row_;
  Distinct<RawNode> nodes_;
};

// A node was made. A clone has two events: one like every node that is made, and one that names its original.
struct NodeEvent {
  static constexpr std::int64_t kNotCloned = -1;
  RawNode node;
  std::int64_t original = kNotCloned;
  std::int64_t thread = 0;  // as the capture numbers them
  Ns time_ns = 0;
};

class GraphNodes {
 public:
  bool empty() const { return kernels_.empty() && mem_ops_.empty(); }
  // A stretch begins at the trace's row `first`; stretches come in that order.
  void add_kernels(std::size_t first, RowNodes&& stretch) { add(kernels_, first, std::move(stretch)); }
  void add_mem_ops(std::size_t first, RowNodes&& stretch) { add(mem_ops_, first, std::move(stretch)); }

  // Trace::graph_nodes, kernel_nodes and mem_op_nodes. What cannot be followed to where it was first made has no node there.
  using ThreadOf = std::function<std::uint32_t(std::int64_t)>;
  void link(std::vector<NodeEvent> events, const ThreadOf& thread_of, Trace& trace) const;

 private:
  using Stretches = std::vector<std::pair<std::size_t, RowNodes>>;
  static void add(Stretches& stretches, std::size_t first, RowNodes&& stretch) {
    if (!stretch.nodes().empty()) stretches.emplace_back(first, std::move(stretch));
  }
  Stretches kernels_, mem_ops_;
};

}  // namespace nl::parsers
