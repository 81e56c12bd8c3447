#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "analysis/trace/merge_runs.h"
#include "model/trace.h"

namespace nl::analysis {

// Brings kernels, copies and graphs into the order of their start. Captures have them nearly so; passes over them then need no order of their own.
void order_by_start(Trace& trace);

inline Ns end_of(const Kernel& kernel) { return kernel.end_ns(); }
template <class Work>
Ns end_of(const Work& work) {
  return work.end_ns;
}

inline std::size_t gpu_work_count(const Trace& trace) { return trace.kernels.size() + trace.mem_ops.size() + trace.graph_runs.size(); }

// All work of the GPUs, in the order of the rows: kernels, copies, whole graphs.
template <class Visitor>
void each_gpu_work(const Trace& trace, Visitor&& visitor) {
  for (const Kernel& kernel : trace.kernels) visitor(kernel);
  for (const MemOp& op : trace.mem_ops) visitor(op);
  for (const GraphRun& run : trace.graph_runs) visitor(run);
}

// The rows that `keep` selects, in the order of their start.
template <class Row, class Keep>
std::vector<std::uint32_t> start_order_of(const std::vector<Row>& rows, Keep keep) {
  std::vector<std::uint32_t> order;
  for (std::uint32_t i = 0; i < rows.size(); ++i)
    if (keep(rows[i])) order.push_back(i);
  merge_runs(order, [&](std::uint32_t a, std::uint32_t b) { return rows[a].start_ns < rows[b].start_ns; });
  return order;
}

// All rows in the order of their start; empty where they stand in it already, as they nearly always do.
template <class Row>
std::vector<std::uint32_t> start_order(const std::vector<Row>& rows) {
  const bool sorted = std::is_sorted(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return a.start_ns < b.start_ns; });
  return sorted ? std::vector<std::uint32_t>() : start_order_of(rows, [](const Row&) { return true; });
}

template <class Row>
class StartCursor {
 public:
  explicit StartCursor(const std::vector<Row>& rows) : rows_(rows), order_(start_order(rows)), count_(rows.size()) {}
  StartCursor(const std::vector<Row>& rows, std::vector<std::uint32_t> order)
      : rows_(rows), order_(std::move(order)), count_(order_.size()) {}
  bool done() const { return at_ == count_; }
  Ns start_ns() const { return done() ? std::numeric_limits<Ns>::max() : row().start_ns; }
  const Row& row() const { return rows_[order_.empty() ? at_ : order_[at_]]; }
  void next() { ++at_; }

 private:
  const std::vector<Row>& rows_;
  std::vector<std::uint32_t> order_;
  std::size_t count_;
  std::size_t at_ = 0;
};

// In the order of start. Of work that starts together, kernels come first, then copies.
template <class Visitor>
void visit_in_order(StartCursor<Kernel> kernels, StartCursor<MemOp> mem_ops, StartCursor<GraphRun> graph_runs, Visitor&& visitor) {
  while (!kernels.done() || !mem_ops.done() || !graph_runs.done()) {
    if (!kernels.done() && kernels.start_ns() <= mem_ops.start_ns() && kernels.start_ns() <= graph_runs.start_ns()) {
      visitor(kernels.row());
      kernels.next();
    } else if (!mem_ops.done() && mem_ops.start_ns() <= graph_runs.start_ns()) {
      visitor(mem_ops.row());
      mem_ops.next();
    } else {
      visitor(graph_runs.row());
      graph_runs.next();
    }
  }
}

// For several passes over all work of the GPUs, at the same time if need be: it is ordered once.
class GpuWorkOrder {
 public:
  explicit GpuWorkOrder(const Trace& trace) : kernels_(trace.kernels), mem_ops_(trace.mem_ops), graph_runs_(trace.graph_runs) {}
  template <class Visitor>
  void visit(Visitor&& visitor) const {
    visit_in_order(kernels_, mem_ops_, graph_runs_, visitor);
  }

 private:
  StartCursor<Kernel> kernels_;
  StartCursor<MemOp> mem_ops_;
  StartCursor<GraphRun> graph_runs_;
};

// All work of the GPUs, as visitor(kernel), visitor(mem_op) and visitor(graph_run).
template <class Visitor>
void visit_gpu_work(const Trace& trace, Visitor&& visitor) {
  visit_in_order(StartCursor<Kernel>(trace.kernels), StartCursor<MemOp>(trace.mem_ops), StartCursor<GraphRun>(trace.graph_runs), visitor);
}

// Only the work that `keep` selects: for a small part of the trace, without sorting all of it.
template <class Keep, class Visitor>
void visit_gpu_work_if(const Trace& trace, Keep keep, Visitor&& visitor) {
  visit_in_order(StartCursor<Kernel>(trace.kernels, start_order_of(trace.kernels, keep)),
                 StartCursor<MemOp>(trace.mem_ops, start_order_of(trace.mem_ops, keep)),
                 StartCursor<GraphRun>(trace.graph_runs, start_order_of(trace.graph_runs, keep)), visitor);
}

}  // namespace nl::analysis
