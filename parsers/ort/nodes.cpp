#include "parsers/ort/nodes.h"

#include <fmt/format.h>

#include <algorithm>

namespace nl::parsers {

void OrtNodes::add_node(const OrtEvent& event, std::string_view name) {
  SessionNode node;
  node.name = name;
  node.type = event.op_name.empty() ? name : event.op_name;
  node.provider = event.provider;
  node.shapes = event.inputs.shapes;
  node.dtypes = event.inputs.dtypes;
  node.output_shapes = event.outputs.shapes;
  node.output_dtypes = event.outputs.dtypes;
  if (event.node_index && *event.node_index >= 0) node.index = static_cast<std::uint64_t>(*event.node_index);
  auto& before = of_thread_[*event.tid];
  for (auto place = before.rbegin(); place != before.rend(); ++place) {
    Execution& inner = executions_[*place];
    if (!inner.graph_ended || inner.time.start_ns < *event.start_ns) break;
    inner.node.inside.insert(0, fmt::format("{}#{}/", name, event.node_index.value_or(0)));
    ++inner.node.depth;
  }
  before.push_back(executions_.size());
  executions_.push_back({{*event.start_ns, *event.start_ns + *event.duration_ns, *event.tid}, std::move(node), {}});
  session_.threads = std::max(session_.threads, event.threads.value_or(0));
  used_threads_ = std::max(used_threads_, event.used_threads);
}

void OrtNodes::add_session_event(const OrtEvent& event) {
  if (event.name == "SequentialExecutor::Execute") return end_graph(event);
  if (event.name != "model_run") return;
  model_runs_.push_back({*event.start_ns, *event.start_ns + *event.duration_ns, *event.tid});
  of_thread_.erase(*event.tid);
}

void OrtNodes::end_graph(const OrtEvent& event) {
  auto& before = of_thread_[*event.tid];
  for (auto place = before.rbegin(); place != before.rend() && executions_[*place].time.start_ns >= *event.start_ns; ++place)
    executions_[*place].graph_ended = true;
}

void OrtNodes::add_gpu_time(Ns duration_ns) {
  if (executions_.empty()) return;
  auto& gpu_ns = executions_.back().gpu_ns;
  gpu_ns = gpu_ns.value_or(0) + duration_ns;
}

// By the start alone: times are whole microseconds, so that a node may seem to end after its model_run. With ORT_PARALLEL nodes run on threads
// of their own, and their model_run on the caller's. A profile without a model_run, of a process that died in its first, is one of a single
// iteration as far as it goes.
std::optional<std::uint32_t> OrtNodes::iteration_of(const Stretch& time) const {
  if (model_runs_.empty()) return 0;
  std::optional<std::uint32_t> any;
  auto after = std::upper_bound(model_runs_.begin(), model_runs_.end(), time.start_ns,
                                [](Ns start_ns, const Stretch& run) { return start_ns < run.start_ns; });
  while (after != model_runs_.begin()) {
    --after;
    if (after->end_ns < time.start_ns) {
      if (any) break;
      continue;
    }
    any = static_cast<std::uint32_t>(after - model_runs_.begin());
    if (after->thread == time.thread) break;
  }
  return any;
}

// As they ran, a node before its body; without those whose model_run is not in the profile.
void OrtNodes::order_executions() {
  std::sort(model_runs_.begin(), model_runs_.end(), [](const Stretch& a, const Stretch& b) { return a.start_ns < b.start_ns; });
  std::erase_if(executions_, [&](Execution& each) {
    const auto iteration = iteration_of(each.time);
    each.iteration = iteration.value_or(0);
    return !iteration;
  });
  std::stable_sort(executions_.begin(), executions_.end(), [](const Execution& a, const Execution& b) {
    return std::tie(a.iteration, a.time.start_ns, a.node.depth) < std::tie(b.iteration, b.time.start_ns, b.node.depth);
  });
}

std::uint32_t OrtNodes::number_of(SessionNode& node) {
  const auto [found, added] =
      numbers_.try_emplace({identity_of(node), node.shapes, node.dtypes}, static_cast<std::uint32_t>(session_.nodes.size()));
  if (added) session_.nodes.push_back(std::move(node));
  return found->second;
}

std::optional<ModelSession> OrtNodes::session() && {
  if (executions_.empty()) return std::nullopt;
  order_executions();
  session_.backend = "onnxruntime";
  for (Execution& each : executions_)
    session_.runs.push_back({each.iteration, number_of(each.node), each.time.start_ns, each.time.end_ns - each.time.start_ns, each.gpu_ns});
  for (const Stretch& run : model_runs_) session_.profiled_ns.push_back(run.end_ns - run.start_ns);
  if (session_.threads > 0) session_.idle_threads = session_.threads - std::min(session_.threads, used_threads_);
  return std::move(session_);
}

}  // namespace nl::parsers
