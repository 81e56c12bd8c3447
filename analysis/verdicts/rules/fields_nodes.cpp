#include <algorithm>

#include "analysis/verdicts/rules/fields.h"

// Nodes of a model file: of one iteration. Where no backend ran one, these have no value, and no rule abstains for want of them.
namespace nl::analysis::rules {
namespace {

using Read = Value (*)(const Subject&);

const NodeTotals* nodes_of(const Subject& s) {
  const auto& step = s.totals->nodes[s.table];
  return step && step->operators[s.index].nodes > 0 ? &step->operators[s.index] : nullptr;
}

template <auto Member>
Value node_count(const Subject& s) {
  const NodeTotals* nodes = nodes_of(s);
  return nodes ? Value::of(static_cast<double>(nodes->*Member)) : Value::none();
}

template <auto Member>
Value node_words(const Subject& s) {
  const NodeTotals* nodes = nodes_of(s);
  return nodes && !(nodes->*Member).empty() ? Value::of_text(nodes->*Member) : Value::none();
}

Value node_part(Ns part, Ns whole) { return whole > 0 ? Value::of(static_cast<double>(part) / static_cast<double>(whole)) : Value::none(); }

// Of the time of all nodes.
template <auto Member>
Value node_share(const Subject& s) {
  const NodeTotals* nodes = nodes_of(s);
  return nodes ? node_part(nodes->*Member, s.totals->nodes[s.table]->own_ns) : Value::none();
}

Value main_provider(const Subject& s) {
  const auto& step = s.totals->nodes[s.table];
  return step && !step->main_provider.empty() ? Value::of_text(step->main_provider) : Value::none();
}

Value chain_part(const Subject& s) {
  const NodeTotals* nodes = nodes_of(s);
  return nodes ? node_part(nodes->chain_ns, nodes->own_ns) : Value::none();
}

// Of the run: the table with the most time that has nodes.
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
  return step && step->*Member ? Value::of(static_cast<double>(*(step->*Member))) : Value::none();
}

// GPU times and the host's wall are those of one clock only where the host waits for each node; a backend that times the GPU alone is left out.
std::optional<Ns> outside_ns(const Subject& s) {
  const OperatorStep* step = main_step(s);
  if (!step || !step->wall_ns || step->calls_left_out > 0) return std::nullopt;
  for (const OperatorCall& call : step->calls)
    if (!call.host_ns || call.gpu_ns) return std::nullopt;
  return std::max<Ns>(0, *step->wall_ns - main_nodes(s)->own_ns);
}

}  // namespace

void add_node_fields(std::vector<Field>& fields) {
  const auto add = [&](std::string_view name, Unit unit, std::string_view help, Read read) {
    fields.push_back({name, kN, unit, Capture::kOperators, Place::kNodes, help, read});
  };
  const auto text = [&](std::string_view name, std::string_view help, Read read) {
    fields.push_back({name, Type::kText, Unit::kWords, Capture::kOperators, Place::kNodes, help, read});
  };
  add("nodes", Unit::kCount, "nodes of a model file that are this operator, in one iteration", node_count<&NodeTotals::nodes>);
  add("node_share", Unit::kShare, "of the time of all nodes: these", node_share<&NodeTotals::own_ns>);
  text("provider", "that runs most of their time: CPUExecutionProvider …", node_words<&NodeTotals::provider>);
  text("main_provider", "that runs most of the time of all nodes, another than the CPU where there is one", main_provider);
  add("fallback_nodes", Unit::kCount, "of `nodes`: run by the CPU, while `main_provider` is another",
      node_count<&NodeTotals::fallback_nodes>);
  add("fallback_share", Unit::kShare, "of the time of all nodes: `fallback_nodes`", node_share<&NodeTotals::fallback_ns>);
  add("chain_nodes", Unit::kCount, "of `nodes`: casts next to casts, or transposes next to nodes that only change shapes",
      node_count<&NodeTotals::chain_nodes>);
  add("longest_chain", Unit::kCount, "nodes of the longest such row", node_count<&NodeTotals::longest_chain>);
  add("chain_share", Unit::kShare, "of the time of all nodes: `chain_nodes`", node_share<&NodeTotals::chain_ns>);
  add("chain_part", Unit::kShare, "of this operator's time: `chain_nodes`", chain_part);
  text("top_node", "the node of this operator with the most time", node_words<&NodeTotals::top_node>);
  add("top_node_share", Unit::kShare, "of the time of all nodes: `top_node`", node_share<&NodeTotals::top_node_ns>);
}

void add_run_node_fields(std::vector<Field>& fields) {
  const auto add = [&](std::string_view name, Unit unit, std::string_view help, Read read) {
    fields.push_back({name, kN, unit, Capture::kOperators, Place::kNodes, help, read});
  };
  add("model_nodes", Unit::kCount, "nodes of the model file that was run, in one iteration",
      [](const Subject& s) { return main_step(s) ? Value::of(static_cast<double>(main_step(s)->calls.size())) : Value::none(); });
  add("node_time", Unit::kTime, "of all nodes, in one iteration",
      [](const Subject& s) { return main_nodes(s) ? Value::of(static_cast<double>(main_nodes(s)->own_ns)) : Value::none(); });
  add("iteration_time", Unit::kTime, "of an iteration in which nodes were timed, median", of_step<&OperatorStep::wall_ns>);
  add("unprofiled_iteration_time", Unit::kTime, "of an iteration in which none was, median", of_step<&OperatorStep::unprofiled_wall_ns>);
  add("between_nodes_time", Unit::kTime, "`iteration_time` − `node_time`, where the host times every node",
      [](const Subject& s) { return outside_ns(s) ? Value::of(static_cast<double>(*outside_ns(s))) : Value::none(); });
  add("between_nodes_share", Unit::kShare, "`between_nodes_time` ÷ `iteration_time`",
      [](const Subject& s) { return outside_ns(s) ? node_part(*outside_ns(s), *main_step(s)->wall_ns) : Value::none(); });
  add("compute_node_share", Unit::kShare, "of `node_time`: matrix products, convolutions and attention",
      [](const Subject& s) { return main_nodes(s) ? node_part(main_nodes(s)->compute_ns, main_nodes(s)->own_ns) : Value::none(); });
  add("backend_threads", Unit::kCount, "threads that the backend computes with", of_step<&OperatorStep::threads>);
  add("idle_backend_threads", Unit::kCount, "of them, those that never computed", of_step<&OperatorStep::idle_threads>);
  fields.push_back({"cpu_only", Type::kTruth, Unit::kNumber, Capture::kOperators, Place::kNodes, "every node runs on the CPU",
                    [](const Subject& s) { return main_nodes(s) ? Value::of_truth(main_nodes(s)->cpu_only) : Value::none(); }});
}

std::optional<std::size_t> nodes_step(const Subject& subject) {
  if (subject.scope == RuleScope::kOperator)
    return subject.totals->nodes[subject.table] ? std::optional(subject.totals->nodes[subject.table]->step) : std::nullopt;
  const StepTotals* nodes = main_nodes(subject);
  return nodes ? std::optional(nodes->step) : std::nullopt;
}

}  // namespace nl::analysis::rules
