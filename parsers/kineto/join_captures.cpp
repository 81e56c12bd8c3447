#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "model/cuda_calls.h"
#include "nvtx/engine_steps.h"
#include "nvtx/names.h"
#include "parsers/kineto/graph_captures.h"

namespace nl::parsers {
namespace {

struct WorkRow {
  Ns start_ns = 0;
  std::uint32_t row = 0;  // of Trace::kernels or Trace::mem_ops
  std::uint32_t name = 0, queue = 0;
  bool copies = false;
};

// One launch of a graph, and what it ran.
struct Replay {
  std::uint32_t api = 0;
  std::vector<WorkRow> work;  // by start
  bool one_queue() const {
    return std::all_of(work.begin(), work.end(), [&](const WorkRow& row) { return row.queue == work.front().queue; });
  }
};

// The replays of a step; of no step, one alone.
struct StepReplays {
  std::optional<nvtx::EngineStep> step;
  std::vector<Replay> replays;
};

// A captured graph with its names as numbers of the trace's.
struct GraphNames {
  const CapturedGraph* graph = nullptr;
  std::vector<std::uint32_t> names;  // StringId value; of a copy, and where it is not known: 0
  bool named = false;
  std::uint32_t first_node = kNone;  // in Trace::graph_nodes, once it is used
};

struct BatchNames {
  const CapturedBatch* batch = nullptr;
  std::size_t capture = 0;  // whose it is
  std::vector<GraphNames> graphs;
};

bool fits(const GraphNames& captured, const Replay& replay) {
  const auto& nodes = captured.graph->nodes;
  if (nodes.size() != replay.work.size()) return false;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i].copies != replay.work[i].copies) return false;
    if (captured.names[i] != 0 && captured.names[i] != replay.work[i].name) return false;
  }
  return captured.named || replay.one_queue();  // without names there is the order alone, which several queues do not keep
}

bool fits(const BatchNames& batch, const std::vector<Replay>& replays) {
  return batch.graphs.size() == replays.size() &&
         std::equal(replays.begin(), replays.end(), batch.graphs.begin(), [](const Replay& r, const GraphNames& g) { return fits(g, r); });
}

class CaptureJoin {
 public:
  CaptureJoin(const std::vector<GraphCaptures>& captures, Trace& trace) : captures_(captures), trace_(trace) {}

  void join() {
    for (std::size_t i = 0; i < captures_.size(); ++i)
      for (const CapturedBatch& batch : captures_[i].batches) batches_.push_back(named(batch, i));
    std::stable_sort(batches_.begin(), batches_.end(), [](const auto& a, const auto& b) { return a.batch->size < b.batch->size; });
    std::vector<StepReplays> steps = replays_by_step();
    if (batches_.empty() || steps.empty()) return;
    for (const StepReplays& step : steps) {
      all_ += step.replays.size();
      if (BatchNames* batch = batch_of(step)) add(step, *batch);
      else not_joined(step);
    }
    note();
  }

 private:
  BatchNames named(const CapturedBatch& batch, std::size_t capture) {
    BatchNames out{&batch, capture, {}};
    for (const CapturedGraph& graph : batch.graphs) {
      GraphNames names{&graph, {}, false, kNone};
      for (const CapturedNode& node : graph.nodes) {
        const bool known = !node.copies && !node.kernel.empty();
        names.named = names.named || known;
        names.names.push_back(known ? trace_.strings.intern(node.kernel).value : 0);
      }
      out.graphs.push_back(std::move(names));
    }
    return out;
  }

  std::map<std::uint32_t, Replay> all_replays() {
    std::map<std::uint32_t, Replay> replays;
    const auto add = [&](std::uint32_t api, const WorkRow& row) {
      if (api >= trace_.api_calls.size() || !cuda_call(trace_.strings[trace_.api_calls[api].name]).graph) return;
      Replay& replay = replays[api];
      replay.api = api;
      replay.work.push_back(row);
    };
    for (std::uint32_t i = 0; i < trace_.kernels.size(); ++i) {
      const Kernel& kernel = trace_.kernels[i];
      add(kernel.api, {kernel.start_ns, i, trace_.shapes[kernel.shape].name.value, static_cast<std::uint32_t>(kernel.queue), false});
    }
    for (std::uint32_t i = 0; i < trace_.mem_ops.size(); ++i)
      add(trace_.mem_ops[i].api, {trace_.mem_ops[i].start_ns, i, 0, trace_.mem_ops[i].queue, true});
    for (auto& [api, replay] : replays)
      std::sort(replay.work.begin(), replay.work.end(), [](const WorkRow& a, const WorkRow& b) { return a.start_ns < b.start_ns; });
    return replays;
  }

  using StepRange = std::pair<const Range*, nvtx::EngineStep>;

  // Calls are in the order of thread and start, so the replays of a step are as well.
  std::vector<StepReplays> replays_by_step() {
    const std::vector<StepRange> ranges = engine_ranges();
    std::vector<StepReplays> steps;
    std::map<const Range*, std::size_t> places;
    for (auto& [api, replay] : all_replays()) {
      const StepRange* around = step_around(ranges, trace_.api_calls[api]);
      const std::size_t place = around != nullptr ? places.try_emplace(around->first, steps.size()).first->second : steps.size();
      if (place == steps.size()) steps.push_back({around != nullptr ? std::optional(around->second) : std::nullopt, {}});
      steps[place].replays.push_back(std::move(replay));
    }
    return steps;
  }

  static std::pair<std::uint32_t, Ns> place_of(const Range& range) { return {range.thread, range.start_ns}; }

  // By thread and start.
  std::vector<StepRange> engine_ranges() const {
    std::vector<StepRange> ranges;
    for (const Range& range : trace_.ranges)
      if (const auto step = nvtx::engine_step(trace_.strings[range.name]); step && step->told()) ranges.emplace_back(&range, *step);
    std::sort(ranges.begin(), ranges.end(), [](const auto& a, const auto& b) { return place_of(*a.first) < place_of(*b.first); });
    return ranges;
  }

  // The last one that began before the call; steps do not overlap, but one may be marked twice.
  static const StepRange* step_around(const std::vector<StepRange>& ranges, const ApiCall& call) {
    auto after = std::upper_bound(ranges.begin(), ranges.end(), std::pair<std::uint32_t, Ns>(call.thread, call.start_ns),
                                  [](const auto& place, const StepRange& each) { return place < place_of(*each.first); });
    for (int i = 0; i < 2 && after != ranges.begin(); ++i) {
      --after;
      if (after->first->thread == call.thread && call.start_ns < after->first->end_ns) return &*after;
    }
    return nullptr;
  }

  // Of those that fit the smallest that has room for the step: vLLM counts tokens, SGLang requests.
  BatchNames* batch_of(const StepReplays& step) {
    BatchNames* found = nullptr;
    std::uint64_t wanted = 0;
    if (step.step)
      wanted = step.step->engine == "vLLM" ? static_cast<std::uint64_t>(step.step->tokens().value_or(0)) : step.step->sequences.value_or(0);
    for (BatchNames& batch : batches_) {
      if (!fits(batch, step.replays)) continue;
      found = &batch;
      if (!batch.batch->size || *batch.batch->size >= wanted) break;
    }
    return found;
  }

  void add(const StepReplays& step, BatchNames& batch) {
    trace_.kernel_nodes.resize(trace_.kernels.size(), kNone);
    trace_.mem_op_nodes.resize(trace_.mem_ops.size(), kNone);
    for (std::size_t i = 0; i < step.replays.size(); ++i) {
      GraphNames& graph = batch.graphs[i];
      if (graph.first_node == kNone) add_nodes(graph, batch.capture, step.replays[i]);
      const auto& work = step.replays[i].work;
      for (std::uint32_t n = 0; n < work.size(); ++n)
        (work[n].copies ? trace_.mem_op_nodes : trace_.kernel_nodes)[work[n].row] = graph.first_node + n;
      kernels_ += static_cast<std::uint64_t>(std::count_if(work.begin(), work.end(), [](const WorkRow& row) { return !row.copies; }));
    }
    joined_ += step.replays.size();
  }

  void add_nodes(GraphNames& graph, std::size_t capture, const Replay& replay) {
    const std::uint32_t process = trace_.threads[trace_.api_calls[replay.api].thread].process;
    const auto [found, added] =
        threads_.try_emplace({capture, process, graph.graph->tid}, static_cast<std::uint32_t>(trace_.threads.size()));
    if (added) trace_.threads.push_back({process, static_cast<std::uint32_t>(graph.graph->tid), "graph capture"});
    const Ns shift = shift_of(capture);
    graph.first_node = static_cast<std::uint32_t>(trace_.graph_nodes.size());
    for (const CapturedNode& node : graph.graph->nodes) trace_.graph_nodes.push_back({found->second, node.time_ns + shift});
    add_ranges(*graph.graph, capture, found->second, shift);
  }

  // The capture ends a microsecond before the trace begins: its own times may be of any clock.
  Ns shift_of(std::size_t capture) {
    const auto [found, added] = shifts_.try_emplace(capture, 0);
    if (!added) return found->second;
    Ns latest = 0;
    for (const CaptureRange& range : captures_[capture].ranges) latest = std::max(latest, range.end_ns);
    for (const CapturedBatch& batch : captures_[capture].batches)
      for (const CapturedGraph& graph : batch.graphs) latest = std::max(latest, graph.end_ns);
    return found->second = -latest - 1000;
  }

  void add_ranges(const CapturedGraph& graph, std::size_t capture, std::uint32_t thread, Ns shift) {
    const auto& ranges = captures_[capture].ranges;
    std::vector<bool>& added = ranges_added_[{capture, thread}];
    added.resize(ranges.size(), false);
    for (std::size_t i = 0; i < ranges.size(); ++i) {
      const CaptureRange& range = ranges[i];
      if (added[i] || range.tid != graph.tid || range.pid != graph.pid || range.start_ns >= graph.end_ns || range.end_ns <= graph.begin_ns)
        continue;
      added[i] = true;
      Range copy;
      copy.start_ns = range.start_ns + shift;
      copy.end_ns = range.end_ns + shift;
      copy.name = trace_.strings.intern(range.name);
      if (range.kind == CaptureRange::Kind::kOperator) copy.domain = trace_.strings.intern(kTorchDomain);
      if (range.kind == CaptureRange::Kind::kModule) copy.domain = trace_.strings.intern(nvtx::kLayerDomain);
      copy.thread = thread;
      trace_.ranges.push_back(copy);
    }
  }

  // Said of the first step that is not joined: "the step has 1 graph with 421 nodes, the captured ones 1 with 425"
  void not_joined(const StepReplays& step) {
    if (!why_.empty()) return;
    const auto counts = [](std::size_t graphs, std::size_t nodes) {
      return fmt::format("{} {} with {} {}", graphs, graphs == 1 ? "graph" : "graphs", nodes, nodes == 1 ? "node" : "nodes");
    };
    std::size_t replayed = 0;
    for (const Replay& replay : step.replays) replayed += replay.work.size();
    std::vector<std::string> captured;
    bool same_count = false;
    for (const BatchNames& batch : batches_) {
      std::size_t nodes = 0;
      for (const GraphNames& graph : batch.graphs) nodes += graph.graph->nodes.size();
      same_count = same_count || (nodes == replayed && batch.graphs.size() == step.replays.size());
      const std::string text = counts(batch.graphs.size(), nodes);
      if (captured.size() < 3 && std::find(captured.begin(), captured.end(), text) == captured.end()) captured.push_back(text);
    }
    why_ = same_count ? "they have as many nodes, but other kernels or another order"
                      : fmt::format("a step replays {}, captured are {}", counts(step.replays.size(), replayed), fmt::join(captured, ", "));
  }

  void note() {
    std::string files = captures_.front().file;
    if (captures_.size() > 1) files += fmt::format(" and {} more", captures_.size() - 1);
    const auto& n = [](std::uint64_t value) { return std::to_string(value); };
    if (joined_ > 0) trace_.stats.notes.push_back({Code::kGraphsJoined, {files, n(joined_), n(all_), n(kernels_)}});
    if (joined_ < all_) trace_.stats.notes.push_back({Code::kGraphsNotJoined, {files, n(all_ - joined_), n(all_), why_}});
  }

  const std::vector<GraphCaptures>& captures_;
  Trace& trace_;
  std::vector<BatchNames> batches_;  // the smallest first
  std::map<std::tuple<std::size_t, std::uint32_t, std::int64_t>, std::uint32_t> threads_;
  std::map<std::size_t, Ns> shifts_;
  std::map<std::pair<std::size_t, std::uint32_t>, std::vector<bool>> ranges_added_;
  std::uint64_t all_ = 0, joined_ = 0, kernels_ = 0;
  std::string why_;
};

}  // namespace

void join_graph_captures(const std::vector<GraphCaptures>& captures, Trace& trace) {
  if (!captures.empty()) CaptureJoin(captures, trace).join();
}

void join_graph_captures(const std::vector<std::filesystem::path>& files, Trace& trace) {
  std::vector<GraphCaptures> captures;
  for (const auto& file : files) captures.push_back(read_graph_captures(file));
  join_graph_captures(captures, trace);
}

}  // namespace nl::parsers
