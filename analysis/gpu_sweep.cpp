#include "analysis/gpu_sweep.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "analysis/attribution.h"

namespace nl {
namespace {

// The ranges and stages around an API call, each once.
struct Surroundings {
  std::vector<std::uint32_t> groups;
  std::vector<std::uint32_t> stages;
  std::uint32_t top_stage = kNone;
  bool chosen = false;
};

// Calls between the same two range boundaries of a thread have the same surroundings, and calls come in
// long runs: each thread remembers its last answer.
class SurroundingsCache {
 public:
  SurroundingsCache(const Trace& trace, const StageTable& table, const std::vector<std::uint32_t>& chosen)
      : trace_(trace), table_(table), index_(trace), threads_(trace.threads.size()), chosen_(table.stages().size()) {
    for (const std::uint32_t stage : chosen) chosen_[stage] = true;
    for (const Range& range : trace.ranges) {
      if (range.thread >= threads_.size()) continue;
      threads_[range.thread].boundaries.push_back(range.start_ns);
      threads_[range.thread].boundaries.push_back(range.end_ns);
    }
    for (auto& thread : threads_) std::sort(thread.boundaries.begin(), thread.boundaries.end());
  }

  const Surroundings& of(std::uint32_t api) {
    if (api >= trace_.api_calls.size()) return nowhere_;
    const ApiCall& call = trace_.api_calls[api];
    if (call.thread >= threads_.size()) return nowhere_;
    ThreadState& thread = threads_[call.thread];
    if (thread.boundaries.empty()) return nowhere_;
    if (call.start_ns > thread.from_ns && call.end_ns() < thread.to_ns) return thread.last;
    resolve(call, thread.last);
    remember_segment(call, thread);
    return thread.last;
  }

 private:
  struct ThreadState {
    std::vector<Ns> boundaries;  // starts and ends of its ranges
    Ns from_ns = 0, to_ns = 0;   // `last` holds strictly between these; nothing lies between equal ones
    Surroundings last;
  };

  void resolve(const ApiCall& call, Surroundings& out) {
    out.groups.clear();
    out.stages.clear();
    out.top_stage = kNone;
    out.chosen = false;
    index_.enclosing(call, ranges_);
    for (const std::uint32_t range : ranges_) {
      const std::uint32_t group = table_.group_of(range);
      add_once(out.groups, group);
      const std::uint32_t stage = table_.groups()[group].stage;
      if (stage == kNone) continue;
      const std::uint32_t top = table_.top_level(stage);
      if (out.top_stage == kNone) out.top_stage = top;
      add_once(out.stages, top);
      add_once(out.stages, stage);
    }
    for (const std::uint32_t stage : out.stages) out.chosen |= chosen_[stage];
  }

  static void add_once(std::vector<std::uint32_t>& set, std::uint32_t value) {
    if (std::find(set.begin(), set.end(), value) == set.end()) set.push_back(value);
  }

  static void remember_segment(const ApiCall& call, ThreadState& thread) {
    const auto& boundaries = thread.boundaries;
    const auto after = std::upper_bound(boundaries.begin(), boundaries.end(), call.start_ns);
    thread.from_ns = after == boundaries.begin() ? std::numeric_limits<Ns>::min() : *(after - 1);
    thread.to_ns = after == boundaries.end() ? std::numeric_limits<Ns>::max() : *after;
    // A call on a boundary or across one speaks only for itself.
    if (call.start_ns == thread.from_ns || call.end_ns() >= thread.to_ns) thread.from_ns = thread.to_ns = 0;
  }

  const Trace& trace_;
  const StageTable& table_;
  RangeIndex index_;
  std::vector<ThreadState> threads_;
  std::vector<char> chosen_;
  std::vector<std::uint32_t> ranges_;
  const Surroundings nowhere_;
};

// The rows in the order of their start; empty where they stand in it already, as they nearly always do.
template <class Row>
std::vector<std::uint32_t> start_order(const std::vector<Row>& rows) {
  const auto earlier = [](const Row& a, const Row& b) { return a.start_ns < b.start_ns; };
  if (std::is_sorted(rows.begin(), rows.end(), earlier)) return {};
  std::vector<std::uint32_t> order(rows.size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return rows[a].start_ns < rows[b].start_ns; });
  return order;
}

template <class Row>
class Cursor {
 public:
  explicit Cursor(const std::vector<Row>& rows) : rows_(rows), order_(start_order(rows)) {}
  bool done() const { return at_ == rows_.size(); }
  Ns start_ns() const { return done() ? std::numeric_limits<Ns>::max() : row().start_ns; }
  const Row& row() const { return rows_[order_.empty() ? at_ : order_[at_]]; }
  void next() { ++at_; }

 private:
  const std::vector<Row>& rows_;
  std::vector<std::uint32_t> order_;
  std::size_t at_ = 0;
};

class Sweeper {
 public:
  Sweeper(const Trace& trace, const StageTable& table, const std::vector<std::uint32_t>& chosen)
      : trace_(trace), surroundings_(trace, table, chosen) {
    sweep_.by_group.resize(table.groups().size());
    sweep_.by_stage.resize(table.stages().size());
    number_devices();
  }

  GpuSweep run() {
    Cursor<Kernel> kernels(trace_.kernels);
    Cursor<MemOp> mem_ops(trace_.mem_ops);
    Cursor<GraphRun> graph_runs(trace_.graph_runs);
    while (!kernels.done() || !mem_ops.done() || !graph_runs.done()) {
      if (!kernels.done() && kernels.start_ns() <= mem_ops.start_ns() && kernels.start_ns() <= graph_runs.start_ns()) {
        add_kernel(kernels.row());
        kernels.next();
      } else if (!mem_ops.done() && mem_ops.start_ns() <= graph_runs.start_ns()) {
        add(mem_ops.row().start_ns, mem_ops.row().end_ns, mem_ops.row().api, false);
        mem_ops.next();
      } else {
        const GraphRun& run = graph_runs.row();
        add(run.start_ns, run.end_ns, run.api, false);
        sweep_.graph_run_ns += run.end_ns - run.start_ns;
        graph_runs.next();
      }
    }
    return std::move(sweep_);
  }

 private:
  void number_devices() {
    std::map<std::int32_t, std::uint32_t> numbers;
    for (const Queue& queue : trace_.queues) {
      const auto number = numbers.try_emplace(queue.device, static_cast<std::uint32_t>(numbers.size())).first->second;
      sweep_.device_of_queue.push_back(number);
    }
    sweep_.device_count = std::max<std::uint32_t>(1, static_cast<std::uint32_t>(numbers.size()));
    sweep_.kernel_group.assign(trace_.shapes.size() * sweep_.device_count, kNone);
  }

  const Surroundings& add(Ns start_ns, Ns end_ns, std::uint32_t api, bool kernel) {
    const Surroundings& around = surroundings_.of(api);
    sweep_.all.add(start_ns, end_ns, kernel);
    for (const std::uint32_t group : around.groups) sweep_.by_group[group].add(start_ns, end_ns, kernel);
    for (const std::uint32_t stage : around.stages) sweep_.by_stage[stage].add(start_ns, end_ns, kernel);
    return around;
  }

  void add_kernel(const Kernel& kernel) {
    const auto duration_ns = static_cast<Ns>(kernel.duration_ns);
    const Surroundings& around = add(kernel.start_ns, kernel.end_ns(), kernel.api, true);
    KernelGroup& group = kernel_group(kernel);
    ++group.calls;
    group.graph_calls += kernel.in_graph;
    group.total_ns += duration_ns;
    if (around.chosen) group.chosen_ns += duration_ns;
    StageTime& split = around.top_stage == kNone ? group.stages.back() : group.stages[around.top_stage];
    split.total_ns += duration_ns;
    ++split.calls;
    sweep_.kernel_ns += duration_ns;
    if (around.top_stage != kNone) sweep_.in_stage_ns += duration_ns;
    if (kernel.api == kNone) sweep_.unlinked_ns += duration_ns;
  }

  KernelGroup& kernel_group(const Kernel& kernel) {
    const std::uint32_t device = sweep_.device_of_queue[kernel.queue];
    std::uint32_t& id = sweep_.kernel_group[kernel.shape * std::size_t{sweep_.device_count} + device];
    if (id == kNone) {
      const StringId name = trace_.shapes[kernel.shape].name;
      const auto [found, added] =
          group_ids_.try_emplace(std::pair(name, device), static_cast<std::uint32_t>(sweep_.kernels.size()));
      id = found->second;
      if (added) {
        KernelGroup group;
        group.name = name;
        group.device = trace_.queues[kernel.queue].device;
        group.shape = kernel.shape;
        group.stages.resize(sweep_.by_stage.size() + 1);
        sweep_.kernels.push_back(std::move(group));
      }
    }
    return sweep_.kernels[id];
  }

  const Trace& trace_;
  SurroundingsCache surroundings_;
  std::map<std::pair<StringId, std::uint32_t>, std::uint32_t> group_ids_;
  GpuSweep sweep_;
};

}  // namespace

GpuSweep sweep_gpu(const Trace& trace, const StageTable& table, const std::vector<std::uint32_t>& chosen) {
  return Sweeper(trace, table, chosen).run();
}

}  // namespace nl
