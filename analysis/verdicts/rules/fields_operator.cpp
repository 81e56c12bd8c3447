#include <algorithm>

#include "analysis/verdicts/rules/fields.h"

namespace nl::analysis::rules {
namespace {

// trtexec times the GPU only.
Value host_time(const Subject& s, Ns ns) { return s.op().host_time_known ? Value::of(ns) : Value::none(); }

Value cuda_share(const Subject& s) {
  const auto& all = s.run->operators[s.table].cuda_ns;
  if (!all || !s.op().cuda_self_ns) return Value::not_captured();
  return Value::of(*s.op().cuda_self_ns).over(*all);
}

Value operator_stage(const Subject& s) {
  const auto& stages = s.op().stages;
  const auto most = std::max_element(stages.begin(), stages.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == stages.end() ? Value::none() : Value::of_text(most->first);
}

Value kernel_calls(const Subject& s) {
  if (!s.op().cuda_total_ns) return Value::not_captured();
  std::uint64_t calls = 0;
  for (const OperatorKernel& kernel : s.op().kernels) calls += kernel.calls;
  return Value::of(calls);
}

// Nodes of a model file: of one iteration. Where no backend ran one, these have no value, and no rule abstains because they are missing.
const NodeTotals* nodes_of(const Subject& s) {
  const auto& step = s.totals->nodes[s.table];
  return step && step->operators[s.index].nodes > 0 ? &step->operators[s.index] : nullptr;
}

template <auto Member>
Value node_count(const Subject& s) {
  const NodeTotals* nodes = nodes_of(s);
  return nodes ? Value::of(nodes->*Member) : Value::none();
}

template <auto Member>
Value node_words(const Subject& s) {
  const NodeTotals* nodes = nodes_of(s);
  return nodes && !(nodes->*Member).empty() ? Value::of_text(nodes->*Member) : Value::none();
}

// A share of the time of all nodes.
template <auto Member>
Value node_share(const Subject& s) {
  const NodeTotals* nodes = nodes_of(s);
  return nodes ? Value::of(nodes->*Member).over(s.totals->nodes[s.table]->own_ns) : Value::none();
}

Value main_provider(const Subject& s) {
  const auto& step = s.totals->nodes[s.table];
  return step && !step->main_provider.empty() ? Value::of_text(step->main_provider) : Value::none();
}

Value chain_part(const Subject& s) {
  const NodeTotals* nodes = nodes_of(s);
  return nodes ? Value::of(nodes->chain_ns).over(nodes->own_ns) : Value::none();
}

// For the run it is the table with nodes that has the most time.
const StepTotals* main_nodes(const Subject& s) {
  const StepTotals* most = nullptr;
  for (const auto& each : s.totals->nodes)
    if (each && (most == nullptr || each->own_ns > most->own_ns)) most = &*each;
  return most;
}

const OperatorStep* main_step(const Subject& s) {
  const StepTotals* nodes = main_nodes(s);
  return nodes ? &s.run->operator_steps[nodes->step] : nullptr;
}

template <auto Member>
Value of_step(const Subject& s) {
  const OperatorStep* step = main_step(s);
  return step && step->*Member ? Value::of(*(step->*Member)) : Value::none();
}

// GPU times and the host's wall are those of one clock only where the host waits for each node; a backend that times the GPU alone is left out.
Value outside(const Subject& s) {
  const OperatorStep* step = main_step(s);
  if (!step || !step->wall_ns || step->calls_left_out > 0) return Value::none();
  for (const OperatorCall& call : step->calls)
    if (!call.host_ns || call.gpu_ns) return Value::none();
  return Value::of(std::max<Ns>(0, *step->wall_ns - main_nodes(s)->own_ns));
}

void add_node_fields(std::vector<Field>& fields) {
  const FieldGroup add(fields, Capture::kOperators, Place::kNodes);
  add("nodes", Unit::kCount, "nodes of a model file that are this operator, in one iteration", node_count<&NodeTotals::nodes>);
  add("node_share", Unit::kShare, "of the time of all nodes: these", node_share<&NodeTotals::own_ns>);
  add.text("provider", "that runs most of their time: CPUExecutionProvider …", node_words<&NodeTotals::provider>);
  add.text("main_provider", "that runs most of the time of all nodes, another than the CPU where there is one", main_provider);
  add("fallback_nodes", Unit::kCount, "of `nodes`: run by the CPU, while `main_provider` is another",
      node_count<&NodeTotals::fallback_nodes>);
  add("fallback_share", Unit::kShare, "of the time of all nodes: `fallback_nodes`", node_share<&NodeTotals::fallback_ns>);
  add("chain_nodes", Unit::kCount, "of `nodes`: casts next to casts, or transposes next to nodes that only change shapes",
      node_count<&NodeTotals::chain_nodes>);
  add("longest_chain", Unit::kCount, "nodes of the longest such row", node_count<&NodeTotals::longest_chain>);
  add("chain_share", Unit::kShare, "of the time of all nodes: `chain_nodes`", node_share<&NodeTotals::chain_ns>);
  add("chain_part", Unit::kShare, "of this operator's time: `chain_nodes`", chain_part);
  add.text("top_node", "the node of this operator with the most time", node_words<&NodeTotals::top_node>);
  add("top_node_share", Unit::kShare, "of the time of all nodes: `top_node`", node_share<&NodeTotals::top_node_ns>);
}

}  // namespace

void add_operator_fields(std::vector<Field>& fields) {
  const FieldGroup add(fields, Capture::kOperators, Place::kSelf), on_gpu(fields, Capture::kCuda, Place::kSelf);
  add.text("name", "such as `aten::mm`", [](const Subject& s) { return Value::of_text(s.op().name); });
  add.text("source", "pytorch ranges, NVTX ranges, kineto, onnxruntime or trtexec",
           [](const Subject& s) { return Value::of_text(s.run->operators[s.table].source); });
  add.text("type", "matmul, attention, norm …; of TensorRT its layer type",
           [](const Subject& s) { return s.op().type.empty() ? Value::none() : Value::of_text(s.op().type); });
  add.text("main_stage", "the stage in which it spends the most time", operator_stage);
  add("calls", Unit::kCount, "how often it was called", [](const Subject& s) { return Value::of(s.op().calls); });
  add("total_time", Unit::kTime, "host time, with what it calls", [](const Subject& s) { return host_time(s, s.op().total_ns); });
  add("self_time", Unit::kTime, "host time, without what it calls", [](const Subject& s) { return host_time(s, s.op().self_ns); });
  add("mean_time", Unit::kTime, "`total_time` ÷ `calls`",
      [](const Subject& s) { return s.op().calls > 0 ? host_time(s, s.op().total_ns).over(s.op().calls) : Value::none(); });
  on_gpu("cuda_time", Unit::kTime, "GPU time of what was launched inside",
         [](const Subject& s) { return Value::of(s.op().cuda_total_ns); });
  on_gpu("cuda_self_time", Unit::kTime, "GPU time of what it launched itself",
         [](const Subject& s) { return Value::of(s.op().cuda_self_ns); });
  add("own_time", Unit::kTime, "`cuda_self_time` where there is GPU data, else `self_time`",
      [](const Subject& s) { return s.op().cuda_self_ns ? Value::of(s.op().cuda_self_ns) : host_time(s, s.op().self_ns); });
  on_gpu("cuda_share", Unit::kShare, "`cuda_self_time` ÷ that of all operators of its source", cuda_share);
  on_gpu("kernel_calls", Unit::kCount, "executions of its listed kernels", kernel_calls);
  add("shapes", Unit::kCount, "different listed input shapes",
      [](const Subject& s) { return s.op().shapes.empty() ? Value::not_captured() : Value::of(s.op().shapes.size()); });
  add_operator_copy_fields(fields);
  add_node_fields(fields);
}

void add_run_node_fields(std::vector<Field>& fields) {
  const FieldGroup add(fields, Capture::kOperators, Place::kNodes);
  add("model_nodes", Unit::kCount, "nodes of the model file that was run, in one iteration",
      [](const Subject& s) { return main_step(s) ? Value::of(main_step(s)->calls.size()) : Value::none(); });
  add("node_time", Unit::kTime, "of all nodes, in one iteration",
      [](const Subject& s) { return main_nodes(s) ? Value::of(main_nodes(s)->own_ns) : Value::none(); });
  add("iteration_time", Unit::kTime, "of an iteration in which nodes were timed, median", of_step<&OperatorStep::wall_ns>);
  add("unprofiled_iteration_time", Unit::kTime, "of an iteration in which none was, median", of_step<&OperatorStep::unprofiled_wall_ns>);
  add("between_nodes_time", Unit::kTime, "`iteration_time` − `node_time`, where the host times every node", outside);
  add("between_nodes_share", Unit::kShare, "`between_nodes_time` ÷ `iteration_time`",
      [](const Subject& s) { return outside(s).known ? outside(s).over(*main_step(s)->wall_ns) : Value::none(); });
  add("compute_node_share", Unit::kShare, "of `node_time`: matrix products, convolutions and attention",
      [](const Subject& s) { return main_nodes(s) ? Value::of(main_nodes(s)->compute_ns).over(main_nodes(s)->own_ns) : Value::none(); });
  add("backend_threads", Unit::kCount, "threads that the backend computes with", of_step<&OperatorStep::threads>);
  add("idle_backend_threads", Unit::kCount, "of them, those that never computed", of_step<&OperatorStep::idle_threads>);
  add.truth("cpu_only", "every node runs on the CPU",
            [](const Subject& s) { return main_nodes(s) ? Value::of_truth(main_nodes(s)->cpu_only) : Value::none(); });
}

std::optional<std::size_t> nodes_step(const Subject& subject) {
  if (subject.scope == RuleScope::kOperator)
    return subject.totals->nodes[subject.table] ? std::optional(subject.totals->nodes[subject.table]->step) : std::nullopt;
  const StepTotals* nodes = main_nodes(subject);
  return nodes ? std::optional(nodes->step) : std::nullopt;
}

}  // namespace nl::analysis::rules
