#include "analysis/figures/nodes/session_figures.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include "analysis/figures/operators/steps.h"
#include "analysis/figures/operators/types.h"
#include "analysis/statistics/time_summary.h"
#include "model/words.h"

namespace nl::analysis {
namespace {

// The sum of the operators that no other operator called, for each iteration.
std::vector<Ns> operator_sums(const ModelSession& session) {
  std::vector<Ns> sums(session.profiled_ns.size());
  for (const NodeRun& run : session.runs) {
    if (run.iteration >= sums.size() || session.nodes[run.node].depth > 0) continue;
    sums[run.iteration] += session.time_of(run);
  }
  return sums;
}

TimeSummary summary_of(std::vector<Ns> times) { return summarise_times(times); }

constexpr std::size_t kMostSets = 4;      // of iterations with the same nodes; beyond, shapes are not told apart
constexpr std::size_t kMostCalls = 5000;  // of a step
constexpr std::size_t kTopShapes = 5;

// In the order in which they ran: what encloses others before them.
std::vector<NodeRun> ordered_runs(const ModelSession& session) {
  std::vector<NodeRun> runs;
  for (const NodeRun& run : session.runs)
    if (run.node < session.nodes.size()) runs.push_back(run);
  const auto rank = [&](const NodeRun& run) {
    return std::tuple(run.iteration, run.start_ns, run.start_ns == 0 ? 0 : session.nodes[run.node].depth);
  };
  std::stable_sort(runs.begin(), runs.end(), [&](const NodeRun& a, const NodeRun& b) { return rank(a) < rank(b); });
  return runs;
}

// What one node took in one iteration; inside a loop it runs more than once.
struct NodeTime {
  std::uint32_t node = 0;
  std::uint64_t executions = 0;
  Ns host_ns = 0;
  std::optional<Ns> gpu_ns;
};

struct Iteration {
  std::uint32_t number = 0;
  std::vector<std::uint32_t> order;         // keys of nodes, as each first ran
  std::map<std::uint32_t, NodeTime> times;  // by key
  Ns operators_ns = 0;                      // of the nodes that no other encloses
};

std::vector<Iteration> iterations_of(const ModelSession& session, const std::vector<NodeRun>& runs,
                                     const std::vector<std::uint32_t>& keys) {
  std::vector<Iteration> all;
  for (const NodeRun& run : runs) {
    if (all.empty() || all.back().number != run.iteration) all.push_back({run.iteration, {}, {}, 0});
    Iteration& iteration = all.back();
    const auto [found, added] = iteration.times.try_emplace(keys[run.node]);
    NodeTime& time = found->second;
    if (added) {
      iteration.order.push_back(keys[run.node]);
      time.node = run.node;
    }
    ++time.executions;
    time.host_ns += run.host_ns;
    if (run.gpu_ns) time.gpu_ns = time.gpu_ns.value_or(0) + *run.gpu_ns;
    if (session.nodes[run.node].depth == 0) iteration.operators_ns += session.time_of(run);
  }
  return all;
}

// Iterations with the same nodes in the same order.
using IterationSet = std::vector<const Iteration*>;

std::vector<IterationSet> sets_of(const std::vector<Iteration>& iterations) {
  std::map<std::vector<std::uint32_t>, IterationSet> by_order;
  for (const Iteration& each : iterations) by_order[each.order].push_back(&each);
  std::vector<IterationSet> sets;
  for (auto& [order, set] : by_order) sets.push_back(std::move(set));
  const auto time = [](const IterationSet& set) {
    Ns sum_ns = 0;
    for (const Iteration* each : set) sum_ns += each->operators_ns;
    return sum_ns;
  };
  std::sort(sets.begin(), sets.end(),
            [&](const auto& a, const auto& b) { return std::tuple(-time(a), a[0]->number) < std::tuple(-time(b), b[0]->number); });
  return sets;
}

// A key for each node, and one for all that differ in shapes alone.
std::vector<std::uint32_t> keys_of(const ModelSession& session, bool with_shapes) {
  std::vector<std::uint32_t> keys;
  std::map<NodeIdentity, std::uint32_t> known;
  for (std::uint32_t i = 0; i < session.nodes.size(); ++i)
    keys.push_back(with_shapes ? i : known.try_emplace(identity_of(session.nodes[i]), i).first->second);
  return keys;
}

std::optional<Ns> median_ns_of(std::vector<Ns> values) {
  if (values.empty()) return std::nullopt;
  return std::llround(times_of(std::move(values)).median_ns);
}

OperatorCall described(const SessionNode& node) {
  OperatorCall call;
  call.name = node.type;
  call.depth = node.depth;
  call.shapes = node.shapes;
  call.dtypes = node.dtypes;
  call.node = node.name;
  call.node_index = node.index;
  call.provider = node.provider;
  call.holds = node.holds;
  call.output_shapes = node.output_shapes;
  call.output_dtypes = node.output_dtypes;
  call.type = type_of_call(call);
  return call;
}

OperatorCall call_of(const ModelSession& session, const IterationSet& set, const Iteration& median, std::uint32_t key) {
  const NodeTime& own = median.times.at(key);
  OperatorCall call = described(session.nodes[own.node]);
  call.executions = own.executions;
  std::vector<Ns> host, gpu;
  for (const Iteration* each : set) {
    const NodeTime& time = each->times.at(key);
    if (session.host_times_known) host.push_back(time.host_ns);
    if (time.gpu_ns) gpu.push_back(*time.gpu_ns);
  }
  call.host_ns = median_ns_of(host);
  call.gpu_ns = call.gpu_recorded_ns = median_ns_of(gpu);
  if (host.size() > 1) call.host_times = times_of(std::move(host));
  if (gpu.size() > 1) call.gpu_times = times_of(std::move(gpu));
  return call;
}

OperatorStep step_of_set(const ModelSession& session, IterationSet set, std::size_t iterations) {
  std::sort(set.begin(), set.end(), [](const Iteration* a, const Iteration* b) {
    return std::tuple(a->operators_ns, a->number) < std::tuple(b->operators_ns, b->number);
  });
  const Iteration& median = *set[(set.size() - 1) / 2];
  OperatorStep step;
  step.stage = kIterationStage;
  step.source = session.backend;
  step.window = median.number;
  step.windows = iterations;
  step.iterations = set.size();
  for (const std::uint32_t key : median.order) {
    if (step.calls.size() == kMostCalls) break;
    step.calls.push_back(call_of(session, set, median, key));
    step.calls.back().index = static_cast<std::uint32_t>(step.calls.size() - 1);
  }
  step.calls_left_out = median.order.size() - step.calls.size();
  std::vector<Ns> walls;
  for (const Iteration* each : set)
    if (each->number < session.profiled_ns.size()) walls.push_back(session.profiled_ns[each->number]);
  step.wall_ns = median_ns_of(std::move(walls));
  if (session.threads > 0) step.threads = session.threads;
  step.idle_threads = session.idle_threads;
  return step;
}

struct TypeSum {
  OperatorEntry entry;
  std::map<std::pair<std::string, std::string>, OperatorShape> shapes;
};

void add_shape(const SessionNode& node, const NodeRun& run, TypeSum& sum) {
  if (node.shapes.empty()) return;
  OperatorShape& shape = sum.shapes[{node.shapes, node.dtypes}];
  shape.text = node.shapes;
  shape.dtypes = node.dtypes;
  ++shape.calls;
  shape.total_ns += run.host_ns;
  if (run.gpu_ns) shape.cuda_total_ns = shape.cuda_total_ns.value_or(0) + *run.gpu_ns;
}

std::vector<OperatorShape> top_shapes(const TypeSum& sum) {
  std::vector<OperatorShape> shapes;
  for (const auto& [key, shape] : sum.shapes) shapes.push_back(shape);
  std::stable_sort(shapes.begin(), shapes.end(), [](const OperatorShape& a, const OperatorShape& b) {
    return std::tuple(a.cuda_total_ns.value_or(0), a.total_ns) > std::tuple(b.cuda_total_ns.value_or(0), b.total_ns);
  });
  if (shapes.size() > kTopShapes) shapes.resize(kTopShapes);
  return shapes;
}

// By type, each run's time off that of the one around it.
class TypeSums {
 public:
  explicit TypeSums(const ModelSession& session) : session_(session) {
    for (const NodeRun& run : ordered_runs(session)) add(run);
  }
  std::map<std::string, TypeSum> take() { return std::move(sums_); }

 private:
  void add(const NodeRun& run) {
    const SessionNode& node = session_.nodes[run.node];
    while (!around_.empty() && (around_.back().iteration != run.iteration || session_.nodes[around_.back().node].depth >= node.depth))
      around_.pop_back();
    TypeSum& sum = sums_[node.type];
    ++sum.entry.calls;
    sum.entry.self_ns += run.host_ns;
    if (!around_.empty()) entry_of(around_.back()).self_ns -= run.host_ns;
    const bool inside_itself =
        std::any_of(around_.begin(), around_.end(), [&](const NodeRun& other) { return session_.nodes[other.node].type == node.type; });
    if (!inside_itself) sum.entry.total_ns += run.host_ns;
    if (run.gpu_ns) add_gpu(node.type, *run.gpu_ns);
    add_shape(node, run, sum);
    around_.push_back(run);
  }

  void add_gpu(const std::string& type, Ns gpu_ns) {
    const auto plus = [&](std::optional<Ns>& time) { time = time.value_or(0) + gpu_ns; };
    plus(sums_[type].entry.cuda_self_ns);
    std::vector<std::string> types = {type};
    for (const NodeRun& other : around_) types.push_back(session_.nodes[other.node].type);
    std::sort(types.begin(), types.end());
    types.erase(std::unique(types.begin(), types.end()), types.end());
    for (const std::string& each : types) plus(sums_[each].entry.cuda_total_ns);
  }

  OperatorEntry& entry_of(const NodeRun& run) { return sums_[session_.nodes[run.node].type].entry; }

  const ModelSession& session_;
  std::map<std::string, TypeSum> sums_;
  std::vector<NodeRun> around_;
};

}  // namespace

SessionEntry session_figures(const ModelSession& session) {
  SessionEntry entry;
  entry.backend = session.backend;
  entry.version = session.version;
  entry.provider = session.provider;
  entry.precision = session.precision;
  entry.model = session.model;
  entry.inputs_from = session.inputs_from;
  entry.threads = session.threads;
  entry.warmup = session.warmup;
  entry.load_ns = session.load_ns;
  entry.inputs = session.inputs;
  entry.outputs = session.outputs;
  entry.unprofiled = summary_of(session.unprofiled_ns);
  entry.profiled = summary_of(session.profiled_ns);
  entry.notes = session.notes;
  if (entry.unprofiled.median_ns > 0 && entry.profiled.count > 0)
    entry.slowdown = entry.profiled.median_ns / entry.unprofiled.median_ns - 1;
  if (!session.runs.empty()) {
    entry.operators_ns = summary_of(operator_sums(session)).median_ns;
    if (entry.unprofiled.median_ns > 0) entry.operators_share = *entry.operators_ns / entry.unprofiled.median_ns;
  }
  return entry;
}

OperatorTable table_of(const ModelSession& session) {
  OperatorTable table;
  table.source = session.backend;
  for (auto& [type, sum] : TypeSums(session).take()) {
    OperatorEntry& entry = sum.entry;
    entry.name = type;
    if (const OperatorType known = operator_type(type); known != OperatorType::kOther) entry.type = key_of(known);
    entry.host_time_known = session.host_times_known;
    entry.self_ns = std::max<Ns>(0, entry.self_ns);
    entry.shapes = top_shapes(sum);
    if (entry.cuda_self_ns) table.cuda_ns = table.cuda_ns.value_or(0) + *entry.cuda_self_ns;
    table.entries.push_back(std::move(entry));
  }
  std::stable_sort(table.entries.begin(), table.entries.end(), [](const OperatorEntry& a, const OperatorEntry& b) {
    return std::tuple(a.cuda_self_ns.value_or(0), a.self_ns) > std::tuple(b.cuda_self_ns.value_or(0), b.self_ns);
  });
  return table;
}

std::vector<OperatorStep> steps_of(const ModelSession& session) {
  const std::vector<NodeRun> runs = ordered_runs(session);
  std::vector<Iteration> iterations = iterations_of(session, runs, keys_of(session, true));
  std::vector<IterationSet> sets = sets_of(iterations);
  if (sets.size() > kMostSets) {
    iterations = iterations_of(session, runs, keys_of(session, false));
    sets = sets_of(iterations);
  }
  const bool one_set = sets.size() == 1;
  if (sets.size() > kMostSets) sets.resize(kMostSets);
  std::vector<OperatorStep> steps;
  for (IterationSet& set : sets) steps.push_back(step_of_set(session, std::move(set), iterations.size()));
  if (one_set) steps[0].unprofiled_wall_ns = median_ns_of(session.unprofiled_ns);
  return steps;
}

}  // namespace nl::analysis
