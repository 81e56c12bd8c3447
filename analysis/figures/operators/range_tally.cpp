#include "analysis/figures/operators/range_tally.h"

#include <algorithm>
#include <deque>
#include <limits>
#include <map>
#include <string_view>
#include <tuple>

#include "analysis/staging/stage_table.h"
#include "analysis/trace/range_index.h"
#include "model/words.h"
#include "nvtx/names.h"

namespace nl::analysis {
namespace {

constexpr Ns kLongAgo = std::numeric_limits<Ns>::min();

// How much of [start, end) lies behind what was covered before; extends the cover. Starts must not go back.
Ns newly_covered(Ns& covered_until, Ns start_ns, Ns end_ns) {
  const Ns from = std::max(start_ns, covered_until);
  covered_until = std::max(covered_until, end_ns);
  return std::max<Ns>(0, end_ns - from);
}

// The stage that each range stands for, decode_step being part of decode.
class StageOfRange {
 public:
  StageOfRange(const Trace& trace, std::vector<std::string>& stages) : trace_(trace), stages_(stages) {}

  std::uint32_t of(const Range& range) {
    // Nearly all ranges of a framework have names of their own: those must not fill the table.
    const std::string& domain = trace_.strings[range.domain];
    const std::string_view start = domain.empty() ? std::string_view(trace_.strings[range.name]) : std::string_view(domain);
    if (start.substr(0, nvtx::kLlmDomain.size()) != nvtx::kLlmDomain && start != kStageDomain) return kNone;
    const std::uint64_t key = std::uint64_t{range.domain.value} << 32 | range.name.value;
    const auto [found, added] = known_.try_emplace(key, kNone);
    if (!added) return found->second;
    if (std::string stage = stage_of(trace_, range); !stage.empty()) found->second = number_of_stage(stages_, std::move(stage));
    return found->second;
  }

 private:
  const Trace& trace_;
  std::vector<std::string>& stages_;
  std::unordered_map<std::uint64_t, std::uint32_t> known_;
};

// Host time: the ranges of each thread in the order of their start, with those that are still open on a stack.
class HostSweep {
 public:
  HostSweep(const Trace& trace, const RangeItems& items, StageOfRange& stages, RangeTally& out)
      : trace_(trace), items_(items), stages_(stages), out_(out), item_until_(out.items.size(), kLongAgo),
        group_until_(out.groups.size(), kLongAgo) {}

  void run() {
    std::vector<std::uint32_t> order;
    for (std::uint32_t i = 0; i < trace_.ranges.size(); ++i)
      if (items_.item_of_range[i] != kNone || stages_.of(trace_.ranges[i]) != kNone) order.push_back(i);
    std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
      const Range &x = trace_.ranges[a], &y = trace_.ranges[b];
      return std::tuple(x.thread, x.start_ns, -x.end_ns, a) < std::tuple(y.thread, y.start_ns, -y.end_ns, b);
    });
    std::uint32_t thread = kNone;
    for (const std::uint32_t i : order) {
      if (trace_.ranges[i].thread != thread) begin_thread();
      thread = trace_.ranges[i].thread;
      add(i);
    }
    begin_thread();
  }

 private:
  struct Open {
    Ns end_ns;
    std::uint32_t group;
    std::uint32_t stage;
    Ns self_ns;  // so far: what its children cover is taken off
    Ns children_until_ns;
  };

  struct OpenStage {
    Ns end_ns;
    std::uint32_t stage;
  };

  void begin_thread() {
    while (!open_.empty()) close();
    for (const std::uint32_t item : touched_) {
      item_until_[item] = kLongAgo;
      group_until_[items_.group_of_item[item]] = kLongAgo;
    }
    touched_.clear();
    open_stages_.clear();
  }

  void close() {
    const Open& top = open_.back();
    out_.groups[top.group].self_ns += top.self_ns;
    if (top.self_ns > 0) out_.groups[top.group].stage_self_ns[top.stage] += top.self_ns;
    open_.pop_back();
  }

  void add(std::uint32_t index) {
    const Range& range = trace_.ranges[index];
    if (const std::uint32_t stage = stages_.of(range); stage != kNone && range.end_thread == kNone) {
      std::erase_if(open_stages_, [&](const OpenStage& open) { return open.end_ns <= range.start_ns; });
      open_stages_.push_back({range.end_ns, stage});
    }
    const std::uint32_t item = items_.item_of_range[index];
    if (item == kNone) return;
    // One that ends before this one does can enclose nothing that starts later and that this one does not enclose too.
    while (!open_.empty() && (open_.back().end_ns < range.end_ns || open_.back().end_ns <= range.start_ns)) close();
    const Ns duration = range.end_ns - range.start_ns;
    if (!open_.empty()) open_.back().self_ns -= newly_covered(open_.back().children_until_ns, range.start_ns, range.end_ns);
    const std::uint32_t group = items_.group_of_item[item];
    if (item_until_[item] == kLongAgo) touched_.push_back(item);
    ++out_.items[item].calls;
    ++out_.groups[group].calls;
    out_.items[item].total_ns += newly_covered(item_until_[item], range.start_ns, range.end_ns);
    out_.groups[group].total_ns += newly_covered(group_until_[group], range.start_ns, range.end_ns);
    open_.push_back({range.end_ns, group, innermost_stage(range), duration, range.start_ns});
  }

  std::uint32_t innermost_stage(const Range& range) const {
    const auto around = [&](const OpenStage& open) { return open.end_ns >= range.end_ns && open.end_ns > range.start_ns; };
    const auto found = std::find_if(open_stages_.rbegin(), open_stages_.rend(), around);
    return found != open_stages_.rend() ? found->stage : kNone;
  }

  const Trace& trace_;
  const RangeItems& items_;
  StageOfRange& stages_;
  RangeTally& out_;
  std::vector<Open> open_;
  std::vector<Ns> item_until_, group_until_;  // where the latest range of that kind on this thread ends
  std::vector<std::uint32_t> touched_;
  std::vector<OpenStage> open_stages_;  // the innermost last
};

// GPU time: work goes to the path of counted ranges around its launching call, and paths are few. A node of a CUDA graph goes
// on from there into the ranges that were open when it was made: launched in decode, it is still the attention it was captured in.
class GpuTally {
 public:
  GpuTally(const Trace& trace, const RangeItems& items, StageOfRange& stages, RangeTally& out)
      : trace_(trace), items_(items), stages_(stages), out_(out), index_(trace), threads_(trace.threads.size()) {
    paths_.push_back({});
  }

  void run() {
    for (std::size_t i = 0; i < trace_.kernels.size(); ++i) {
      const Kernel& kernel = trace_.kernels[i];
      add(path_of(kernel.api, node_of_kernel(trace_, i)), static_cast<Ns>(kernel.duration_ns),
          kernel.shape < trace_.shapes.size() ? trace_.shapes[kernel.shape].name.value : 0);
    }
    for (std::size_t i = 0; i < trace_.mem_ops.size(); ++i) {
      const MemOp& op = trace_.mem_ops[i];
      add(path_of(op.api, node_of_mem_op(trace_, i)), op.end_ns - op.start_ns, op.label);
    }
    for (const GraphRun& run : trace_.graph_runs) add(path_of_launch(run.api), run.end_ns - run.start_ns, kGraphName);
    roll_up();
  }

 private:
  struct Path {
    std::vector<std::uint32_t> items;  // outermost first, each once
    std::uint32_t stage = kNone;
    std::unordered_map<std::uint32_t, GpuWork> work;  // by name
    std::uint32_t last_name = kNone;
    GpuWork* last = nullptr;  // of last_name: the same kernel comes many times in a row
  };
  // The path of the last call, and between which times it holds.
  struct ThreadState {
    std::uint32_t path = kNone;
    Ns start_ns = 0, end_ns = 0, next_start_ns = 0, first_end_ns = 0;
  };

  void add(std::uint32_t path_id, Ns duration_ns, std::uint32_t name) {
    out_.capture_cuda_ns += duration_ns;
    Path& path = paths_[path_id];
    if (path.items.empty()) return;
    if (path.last == nullptr || path.last_name != name) {
      path.last = &path.work[name];
      path.last_name = name;
    }
    ++path.last->calls;
    path.last->total_ns += duration_ns;
  }

  std::uint32_t path_of(std::uint32_t api, std::uint32_t node) {
    const std::uint32_t launch = path_of_launch(api);
    if (node == kNone) return launch;
    const auto [found, added] = node_paths_.try_emplace(std::uint64_t{launch} << 32 | node, 0);
    if (added) found->second = path_of_node(launch, trace_.graph_nodes[node]);
    return found->second;
  }

  std::uint32_t path_of_node(std::uint32_t launch, const GraphNode& node) {
    key_.assign(1, paths_[launch].stage);
    key_.insert(key_.end(), paths_[launch].items.begin(), paths_[launch].items.end());
    index_.enclosing(node.thread, node.made_ns, node.made_ns, around_);
    for (const std::uint32_t range : around_)
      if (items_.item_of_range[range] != kNone) key_.push_back(items_.item_of_range[range]);
    return intern_path();
  }

  std::uint32_t path_of_launch(std::uint32_t api) {
    if (api >= trace_.api_calls.size()) return 0;
    const ApiCall& call = trace_.api_calls[api];
    if (call.thread >= threads_.size()) return 0;
    ThreadState& thread = threads_[call.thread];
    // No range began since, none that was too short has become long enough, none that was there has ended.
    const bool same = thread.path != kNone && call.start_ns >= thread.start_ns && call.start_ns < thread.next_start_ns &&
                      call.end_ns() >= thread.end_ns && call.end_ns() <= thread.first_end_ns;
    return same ? thread.path : resolve(call, thread);
  }

  std::uint32_t resolve(const ApiCall& call, ThreadState& thread) {
    index_.enclosing(call, around_);
    thread.start_ns = call.start_ns;
    thread.end_ns = call.end_ns();
    thread.next_start_ns = index_.next_start_ns(static_cast<std::uint32_t>(call.thread), call.start_ns);
    thread.first_end_ns = std::numeric_limits<Ns>::max();
    key_.assign(1, kNone);
    for (const std::uint32_t range : around_) {
      thread.first_end_ns = std::min(thread.first_end_ns, index_.end_ns(range));
      const std::uint32_t stage = stages_.of(trace_.ranges[range]);
      if (stage != kNone) key_[0] = stage;  // the innermost comes last
      if (items_.item_of_range[range] != kNone) key_.push_back(items_.item_of_range[range]);
    }
    return thread.path = intern_path();
  }

  std::uint32_t intern_path() {
    const auto [found, added] = path_ids_.try_emplace(key_, static_cast<std::uint32_t>(paths_.size()));
    if (added) {
      Path path;
      path.stage = key_[0];
      path.items.assign(key_.begin() + 1, key_.end());
      paths_.push_back(std::move(path));
    }
    return found->second;
  }

  void roll_up() {
    std::vector<std::uint32_t> distinct;
    for (const Path& path : paths_) {
      if (path.items.empty()) continue;
      Ns total_ns = 0;
      for (const auto& [name, work] : path.work) total_ns += work.total_ns;
      out_.cuda_ns += total_ns;
      add_self(path, total_ns);
      distinct = path.items;
      make_distinct(distinct);
      for (const std::uint32_t item : distinct) out_.items[item].cuda_total_ns += total_ns;
      for (std::uint32_t& item : distinct) item = items_.group_of_item[item];
      make_distinct(distinct);
      for (const std::uint32_t group : distinct) add_group(path, total_ns, out_.groups[group]);
    }
  }

  static void make_distinct(std::vector<std::uint32_t>& values) {
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
  }

  void add_self(const Path& path, Ns total_ns) {
    const std::uint32_t innermost = path.items.back();
    GroupTime& group = out_.groups[items_.group_of_item[innermost]];
    group.cuda_self_ns += total_ns;
    group.stage_cuda_self_ns[path.stage] += total_ns;
  }

  static void add_group(const Path& path, Ns total_ns, GroupTime& group) {
    group.cuda_total_ns += total_ns;
    for (const auto& [name, work] : path.work) {
      GpuWork& sum = group.kernels[name];
      sum.calls += work.calls;
      sum.total_ns += work.total_ns;
    }
  }

  const Trace& trace_;
  const RangeItems& items_;
  StageOfRange& stages_;
  RangeTally& out_;
  RangeIndex index_;
  std::vector<ThreadState> threads_;
  std::deque<Path> paths_;  // a deque, so that what Path::last points to stays where it is
  std::map<std::vector<std::uint32_t>, std::uint32_t> path_ids_;
  std::unordered_map<std::uint64_t, std::uint32_t> node_paths_;  // by the path of the launch and the node
  std::vector<std::uint32_t> around_, key_;
};

}  // namespace

// nsys 2025 gives a range that was never closed the very end of the session as its end.
bool is_countable(const Trace& trace, const Range& range) {
  const bool never_closed = range.open || (trace.session_end_ns && range.end_ns == *trace.session_end_ns);
  return !never_closed && range.end_thread == kNone && range.thread < trace.threads.size();
}

std::uint32_t number_of_stage(std::vector<std::string>& stages, std::string stage) {
  if (stage_kind(stage) == StageKind::kDecodeStep) stage = key_of(StageKind::kDecode);
  const auto found = std::find(stages.begin(), stages.end(), stage);
  const auto number = static_cast<std::uint32_t>(found - stages.begin());
  if (found == stages.end()) stages.push_back(std::move(stage));
  return number;
}

RangeTally tally_host_ranges(const Trace& trace, const RangeItems& items) {
  RangeTally tally;
  tally.items.resize(items.group_of_item.size());
  tally.groups.resize(items.groups);
  StageOfRange stages(trace, tally.stages);
  HostSweep(trace, items, stages, tally).run();
  return tally;
}

RangeTally tally_ranges(const Trace& trace, const RangeItems& items) {
  RangeTally tally = tally_host_ranges(trace, items);
  StageOfRange stages(trace, tally.stages);
  GpuTally(trace, items, stages, tally).run();
  return tally;
}

std::vector<std::uint32_t> by_time(const RangeTally& tally, const std::vector<std::string>& names) {
  std::vector<std::uint32_t> order;
  for (std::uint32_t i = 0; i < tally.groups.size(); ++i)
    if (tally.groups[i].calls > 0) order.push_back(i);
  const auto rank = [&](std::uint32_t i) {
    return std::tuple(-tally.groups[i].cuda_self_ns, -tally.groups[i].self_ns, std::string_view(names[i]));
  };
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return rank(a) < rank(b); });
  return order;
}

std::vector<OperatorKernel> top_work(const Trace& trace, const GroupTime& time, std::size_t top) {
  std::vector<OperatorKernel> work;
  for (const auto& [name, sum] : time.kernels) work.push_back({name_of_work(trace, name), sum.calls, sum.total_ns});
  std::sort(work.begin(), work.end(), [](const OperatorKernel& a, const OperatorKernel& b) {
    return std::tuple(-a.total_ns, std::string_view(a.name)) < std::tuple(-b.total_ns, std::string_view(b.name));
  });
  if (work.size() > top) work.resize(top);
  return work;
}

}  // namespace nl::analysis
