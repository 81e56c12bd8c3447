#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "exporters/report/compare/compare.h"
#include "exporters/report/text/figure_text.h"
#include "exporters/report/text/markdown.h"
#include "model/node_map.h"

namespace nl::exporters {
namespace {

using namespace report;
using nlohmann::ordered_json;

const char* match_words(NodeMatch match) {
  switch (match) {
    case NodeMatch::kName: return "name";
    case NodeMatch::kHolds: return "fusion";
    case NodeMatch::kShapes: return "type and shapes";
    case NodeMatch::kInput: return "type and first shape";
    case NodeMatch::kOrder: return "type and order";
  }
  return "";
}

std::string name_of_node(const OperatorCall& call) { return call.node.empty() ? fmt::format("{} #{}", call.name, call.index) : call.node; }

std::string names_of_nodes(const OperatorStep& step, const std::vector<std::size_t>& indices) {
  std::string text;
  for (const std::size_t index : indices) text += (text.empty() ? "" : " + ") + name_of_node(step.calls[index]);
  return text;
}

// "A: onnxruntime 1.21.1 on cpu, 20261116-161248-run-light-b8b890bc"
Item side_item(const char* letter, const NodeSide& side) {
  std::string what = side.step.source;
  if (const auto& session = side.session)
    what = fmt::format("{} {} on {}{}", session->backend, session->version, session->provider,
                       session->precision.empty() ? "" : " in " + session->precision);
  return {fmt::format("{}: {}, {}", letter, what, side.run_id)};
}

std::string node_us(Ns time) { return us_text(static_cast<double>(time)); }

Table pairs_table(const NodeComparison& comparison) {
  Table table{"Pairs", {{"Nodes of A"}, {"Nodes of B"}, {"A, µs", kRight}, {"B, µs", kRight}, {"B to A", kRight}, {"Paired by"}}};
  for (const NodePair& pair : comparison.map.pairs)
    table.rows.push_back({names_of_nodes(comparison.left.step, pair.left), names_of_nodes(comparison.right.step, pair.right),
                          node_us(pair.left_ns), node_us(pair.right_ns),
                          pair.left_ns > 0 ? fmt::format("{:.2f}", static_cast<double>(pair.right_ns) / static_cast<double>(pair.left_ns))
                                           : std::string(kNoValue),
                          match_words(pair.match)});
  return table;
}

void add_unpaired(const char* letter, const OperatorStep& step, const std::vector<Ns>& times, const std::vector<std::size_t>& indices,
                  Document& document) {
  if (indices.empty()) return;
  Section out{"", "", fmt::format("Only in {}", letter)};
  Table table{"Without a partner", {{"Node"}, {"Type"}, {"µs", kRight}}};
  for (const std::size_t index : indices)
    table.rows.push_back({name_of_node(step.calls[index]), step.calls[index].name, node_us(times[index])});
  out.blocks = {Paragraph{fmt::format("{} of {} nodes only in {}:", indices.size(), step.calls.size(), letter)}, table};
  document.sections.push_back(std::move(out));
}

ordered_json nodes_of(const OperatorStep& step, const std::vector<Ns>& times, const std::vector<std::size_t>& indices) {
  ordered_json nodes = ordered_json::array();
  for (const std::size_t index : indices) {
    const OperatorCall& call = step.calls[index];
    nodes.push_back({{"op_index", call.index},
                     {"node", call.node.empty() ? ordered_json() : ordered_json(call.node)},
                     {"op_name", call.name},
                     {"ns", times[index]}});
  }
  return nodes;
}

ordered_json side_json(const NodeSide& side, double share) {
  return {{"run_id", side.run_id}, {"source", side.step.source}, {"share_paired", share}};
}

Document nodes_document(const NodeComparison& comparison) {
  const NodeMap& map = comparison.map;
  Document document{"Nodes side by side", "", {}, {}, {}, true};
  document.lead = {List{{side_item("A", comparison.left), side_item("B", comparison.right)}},
                   Paragraph{fmt::format("{} pairs: {:.1f} % of A's time and {:.1f} % of B's.", map.pairs.size(), map.left_share * 100,
                                         map.right_share * 100)},
                   pairs_table(comparison)};
  add_unpaired("A", comparison.left.step, map.left_times, map.only_left, document);
  add_unpaired("B", comparison.right.step, map.right_times, map.only_right, document);
  return document;
}

}  // namespace

std::string nodes_markdown(const NodeComparison& comparison) { return markdown(nodes_document(comparison)); }
std::string nodes_text(const NodeComparison& comparison, std::size_t width) { return terminal_text(nodes_document(comparison), width); }

std::string nodes_json(const NodeComparison& comparison) {
  const NodeMap& map = comparison.map;
  const OperatorStep &left = comparison.left.step, &right = comparison.right.step;
  ordered_json pairs = ordered_json::array();
  for (const NodePair& pair : map.pairs)
    pairs.push_back({{"a", nodes_of(left, map.left_times, pair.left)},
                     {"b", nodes_of(right, map.right_times, pair.right)},
                     {"a_ns", pair.left_ns},
                     {"b_ns", pair.right_ns},
                     {"paired_by", match_words(pair.match)}});
  const ordered_json json = {{"a", side_json(comparison.left, map.left_share)},
                             {"b", side_json(comparison.right, map.right_share)},
                             {"pairs", pairs},
                             {"only_a", nodes_of(left, map.left_times, map.only_left)},
                             {"only_b", nodes_of(right, map.right_times, map.only_right)}};
  return json.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace nl::exporters
