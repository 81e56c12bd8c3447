#include "orchestrator/nodes.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "model/error.h"
#include "orchestrator/bundle/read_run.h"

namespace fs = std::filesystem;

namespace nl::orchestrator {
namespace {

using nlohmann::ordered_json;

Run run_at(const fs::path& bundle) {
  const fs::path file = run_json_of(bundle);
  return read_run(read_run_text(file), file);
}

// The more, the better it tells nodes: GPU times, then the backend's own names.
int worth_of(const OperatorStep& step) {
  const auto any = [&](const auto& has) { return std::any_of(step.calls.begin(), step.calls.end(), has); };
  return (any([](const OperatorCall& call) { return call.gpu_ns.has_value(); }) ? 2 : 0) + (any([](const OperatorCall& call) { return !call.node.empty(); }) ? 1 : 0);
}

const OperatorStep* step_to_compare(const Run& run, const fs::path& bundle) {
  const auto found = std::max_element(run.operator_steps.begin(), run.operator_steps.end(), [](const OperatorStep& a, const OperatorStep& b) {
    return std::make_pair(!a.calls.empty(), worth_of(a)) < std::make_pair(!b.calls.empty(), worth_of(b));
  });
  if (found == run.operator_steps.end() || found->calls.empty())
    throw Error(ErrorKind::kInput, "the run has no operators one by one", bundle.string(), "`nl-stage profile` records them, and imports of ONNX Runtime, TensorRT and Kineto profiles have them");
  return &*found;
}

std::string_view words_of(analysis::NodeMatch match) {
  switch (match) {
    case analysis::NodeMatch::kName: return "name";
    case analysis::NodeMatch::kHolds: return "fusion";
    case analysis::NodeMatch::kShapes: return "type and shapes";
    case analysis::NodeMatch::kInput: return "type and first shape";
    case analysis::NodeMatch::kOrder: return "type and order";
  }
  return "";
}

std::string node_text(const OperatorCall& call) { return call.node.empty() ? fmt::format("{} #{}", call.name, call.index) : call.node; }

std::string nodes_text(const OperatorStep& step, const std::vector<std::size_t>& indices) {
  std::string text;
  for (const std::size_t index : indices) text += (text.empty() ? "" : " + ") + node_text(step.calls[index]);
  return text;
}

// Names come out of files that strangers made.
std::string cell(std::string text) {
  for (std::size_t at = 0; (at = text.find_first_of("|<", at)) != std::string::npos; at += 2) text.insert(at, "\\");
  return text;
}

Ns own_time(const OperatorCall& call) { return call.gpu_ns.value_or(call.host_ns.value_or(0)); }

std::string us(Ns time) { return fmt::format("{:.2f}", static_cast<double>(time) / 1e3); }

std::string side_text(const Run& run, const OperatorStep& step) {
  std::string text = step.source;
  if (run.session) text = fmt::format("{} {} on {}{}", run.session->backend, run.session->version, run.session->provider, run.session->precision.empty() ? "" : " in " + run.session->precision);
  return text + ", " + run.run_id;
}

std::string unpaired_text(const char* side, const OperatorStep& step, const std::vector<std::size_t>& indices) {
  if (indices.empty()) return "";
  std::string text = fmt::format("\n{} of {} nodes only in {}:\n\n| Node | Type | µs |\n| --- | --- | ---: |\n", indices.size(), step.calls.size(), side);
  for (const std::size_t index : indices) text += fmt::format("| {} | {} | {} |\n", cell(node_text(step.calls[index])), cell(step.calls[index].name), us(own_time(step.calls[index])));
  return text;
}

ordered_json nodes_of(const OperatorStep& step, const std::vector<std::size_t>& indices) {
  ordered_json nodes = ordered_json::array();
  for (const std::size_t index : indices) {
    const OperatorCall& call = step.calls[index];
    nodes.push_back({{"op_index", call.index}, {"node", call.node.empty() ? ordered_json() : ordered_json(call.node)}, {"op_name", call.name}, {"ns", own_time(call)}});
  }
  return nodes;
}

}  // namespace

NodeComparison compare_nodes(const fs::path& left, const fs::path& right) {
  NodeComparison comparison;
  comparison.left = run_at(left);
  comparison.right = run_at(right);
  comparison.left_step = step_to_compare(comparison.left, left);
  comparison.right_step = step_to_compare(comparison.right, right);
  comparison.map = analysis::map_nodes(*comparison.left_step, *comparison.right_step);
  return comparison;
}

std::string nodes_markdown(const NodeComparison& comparison) {
  const analysis::NodeMap& map = comparison.map;
  const OperatorStep &left = *comparison.left_step, &right = *comparison.right_step;
  std::string text = fmt::format("A: {}\nB: {}\n\n{} pairs: {:.1f} % of A's time and {:.1f} % of B's.\n\n", side_text(comparison.left, left),
                                 side_text(comparison.right, right), map.pairs.size(), map.left_share * 100, map.right_share * 100);
  text += "| Nodes of A | Nodes of B | A, µs | B, µs | B to A | Paired by |\n| --- | --- | ---: | ---: | ---: | --- |\n";
  for (const analysis::NodePair& pair : map.pairs)
    text += fmt::format("| {} | {} | {} | {} | {} | {} |\n", cell(nodes_text(left, pair.left)), cell(nodes_text(right, pair.right)), us(pair.left_ns), us(pair.right_ns),
                        pair.left_ns > 0 ? fmt::format("{:.2f}", static_cast<double>(pair.right_ns) / static_cast<double>(pair.left_ns)) : "—", words_of(pair.match));
  return text + unpaired_text("A", left, map.only_left) + unpaired_text("B", right, map.only_right);
}

std::string nodes_json(const NodeComparison& comparison) {
  const OperatorStep &left = *comparison.left_step, &right = *comparison.right_step;
  ordered_json pairs = ordered_json::array();
  for (const analysis::NodePair& pair : comparison.map.pairs)
    pairs.push_back({{"a", nodes_of(left, pair.left)}, {"b", nodes_of(right, pair.right)}, {"a_ns", pair.left_ns}, {"b_ns", pair.right_ns}, {"paired_by", words_of(pair.match)}});
  const ordered_json json = {{"a", {{"run_id", comparison.left.run_id}, {"source", left.source}, {"share_paired", comparison.map.left_share}}},
                             {"b", {{"run_id", comparison.right.run_id}, {"source", right.source}, {"share_paired", comparison.map.right_share}}},
                             {"pairs", pairs},
                             {"only_a", nodes_of(left, comparison.map.only_left)},
                             {"only_b", nodes_of(right, comparison.map.only_right)}};
  return json.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace nl::orchestrator
