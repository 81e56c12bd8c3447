#include "parsers/ort/nodes.h"

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
  executions_.push_back({{*event.start_ns, *event.start_ns + *event.duration_ns, *event.tid}, std::move(node), {}});
  session_.threads = std::max(session_.threads, event.threads.value_or(0));
  used_threads_ = std::max(used_threads_, event.used_threads);
}

void OrtNodes::add_gpu_time(Ns duration_ns) {
  if (executions_.empty()) return;
  auto& gpu_ns = executions_.back().gpu_ns;
  gpu_ns = gpu_ns.value_or(0) + duration_ns;
}

// Times are whole microseconds, so that a node can lie inside its successor by its times. Only these can hold others.
bool OrtNodes::has_body(const Execution& execution) const {
  const std::string& type = execution.node.type;
  return type == "If" || type == "Loop" || type == "Scan";
}

// How many nodes with a body each lies in: those end, and are written, later.
std::vector<std::uint32_t> OrtNodes::depths() const {
  std::vector<std::uint32_t> depths(executions_.size());
  std::vector<const Stretch*> bodies;  // whose beginning has not been reached, going backwards
  for (std::size_t i = executions_.size(); i-- > 0;) {
    const Stretch& time = executions_[i].time;
    std::erase_if(bodies, [&](const Stretch* body) {
      return body->thread == time.thread && body->start_ns >= time.end_ns && body->start_ns > time.start_ns;
    });
    depths[i] = static_cast<std::uint32_t>(
        std::count_if(bodies.begin(), bodies.end(), [&](const Stretch* body) { return body->thread == time.thread && body->holds(time); }));
    if (has_body(executions_[i])) bodies.push_back(&time);
  }
  return depths;
}

// With ORT_PARALLEL nodes run on threads of their own, and their model_run on the caller's.
std::optional<std::uint32_t> OrtNodes::model_run_of(const Stretch& time) const {
  std::optional<std::uint32_t> any;
  auto after = std::upper_bound(model_runs_.begin(), model_runs_.end(), time.start_ns,
                                [](Ns start_ns, const Stretch& run) { return start_ns < run.start_ns; });
  while (after != model_runs_.begin()) {
    --after;
    if (!after->holds(time)) {
      if (any) break;
      continue;
    }
    any = static_cast<std::uint32_t>(after - model_runs_.begin());
    if (after->thread == time.thread) break;
  }
  return any;
}

// A profile without a model_run, of a process that died in its first, is one of a single iteration as far as it goes.
std::vector<std::optional<std::uint32_t>> OrtNodes::iterations() const {
  std::vector<std::optional<std::uint32_t>> out;
  for (const Execution& each : executions_) out.push_back(model_runs_.empty() ? std::optional<std::uint32_t>(0) : model_run_of(each.time));
  return out;
}

std::uint32_t OrtNodes::node_of(const SessionNode& node) {
  const auto [found, added] = numbers_.try_emplace({node.name, node.type, node.provider, node.shapes, node.dtypes, node.depth},
                                                   static_cast<std::uint32_t>(session_.nodes.size()));
  if (added) session_.nodes.push_back(node);
  return found->second;
}

std::optional<ModelSession> OrtNodes::session() && {
  if (executions_.empty()) return std::nullopt;
  std::sort(model_runs_.begin(), model_runs_.end(), [](const Stretch& a, const Stretch& b) { return a.start_ns < b.start_ns; });
  const auto depth = depths();
  const auto iteration = iterations();
  session_.backend = "onnxruntime";
  for (std::size_t i = 0; i < executions_.size(); ++i) {
    Execution& each = executions_[i];
    if (!iteration[i]) continue;  // its model_run is not in the profile
    each.node.depth = depth[i];
    const std::uint32_t node = node_of(each.node);
    session_.runs.push_back({*iteration[i], node, each.time.start_ns, each.time.end_ns - each.time.start_ns, each.gpu_ns});
  }
  for (const Stretch& run : model_runs_) session_.profiled_ns.push_back(run.end_ns - run.start_ns);
  if (session_.threads > 0) session_.idle_threads = session_.threads - std::min(session_.threads, used_threads_);
  return std::move(session_);
}

}  // namespace nl::parsers
