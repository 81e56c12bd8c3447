#include <fmt/core.h>

#include <algorithm>

#include "exporters/report/sections/sections.h"
#include "exporters/report/text/links.h"
#include "exporters/report/text/operator_text.h"
#include "exporters/report/text/run_text.h"
#include "model/operator.h"
#include "model/words.h"

namespace nl::exporters::report {
namespace {

// What is left out is summed in the last row: the file stays small, the sums right.
constexpr std::size_t kMaxRows = 500;
constexpr std::size_t kTextOperators = 10, kTextLayers = 24;

Cell top_kernels(const std::vector<OperatorKernel>& kernels) {
  Text text;
  for (std::size_t i = 0; i < std::min<std::size_t>(2, kernels.size()); ++i)
    text += Text(i == 0 ? "" : ", ") + code(short_kernel_name(kernels[i].name));
  return text.empty() ? Cell(kNoValue) : Cell(text);
}

Cell shapes_cell(const std::vector<OperatorShape>& shapes) {
  if (shapes.empty()) return kNoValue;
  return code(typed_shapes(shapes.front().text, shapes.front().dtypes)) +
         Text(shapes.size() > 1 ? fmt::format(" and {} more", shapes.size() - 1) : "");
}

std::optional<double> share_of(const std::optional<Ns>& part, const std::optional<Ns>& whole) {
  return part && whole ? ratio(static_cast<double>(*part), static_cast<double>(*whole)) : std::nullopt;
}

Row other_operators(const OperatorTable& source, std::size_t from) {
  OperatorEntry rest;
  for (std::size_t i = from; i < source.entries.size(); ++i) {
    const OperatorEntry& op = source.entries[i];
    rest.self_ns += op.self_ns;
    rest.calls += op.calls;
    if (op.cuda_self_ns) rest.cuda_self_ns = rest.cuda_self_ns.value_or(0) + *op.cuda_self_ns;
  }
  return {plural(source.entries.size() - from, "more operator"),
          "",
          time_cell(rest.cuda_self_ns),
          share_cell(share_of(rest.cuda_self_ns, source.cuda_ns)),
          "",
          time_cell(static_cast<double>(rest.self_ns)),
          "",
          count_cell(rest.calls)};
}

// Names of stages, separated by bars, as a page's script filters by them.
std::string stages_of(const std::vector<std::pair<std::string, Ns>>& parts) {
  std::string out;
  for (const auto& [stage, ns] : parts) out += (out.empty() ? "" : "|") + stage;
  return out;
}

// `first`: the table whose rows findings link to.
Table operator_table(const OperatorTable& source, bool first) {
  Table table{"Operators from " + source.source,
              {{"Operator", kLeft, kAlways, "operator"},
               {"Type", kLeft, kAlways, "type"},
               {"GPU, self", kRight, kAlways, "gpu_self", false, true},
               {"Share", kRight, kAlways, "share", false, true},
               {"GPU, total", kRight, kAlways, "gpu_total"},
               {"Host, self", kRight, kAlways, "host_self", false, true},
               {"Host, total", kRight, kAlways, "host_total"},
               {"Calls", kRight, kAlways, "calls", false, true},
               {"Host mean", kRight, kWide, "host_mean"},
               {"Shapes", kLeft, kWide, "shapes"},
               {"Top kernels", kLeft, kAlways, "kernels"}}};
  table.sortable = table.filter = true;
  table.name = "operators";
  const std::size_t shown = std::min(kListedOperators, source.entries.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const OperatorEntry& op = source.entries[i];
    const auto host = [&](Ns ns) { return time_cell_if(op.host_time_known, static_cast<double>(ns)); };
    table.rows.push_back({code(op.name), text_cell(op.type), time_cell(op.cuda_self_ns),
                          share_cell(share_of(op.cuda_self_ns, source.cuda_ns)), time_cell(op.cuda_total_ns), host(op.self_ns),
                          host(op.total_ns), count_cell(op.calls),
                          time_cell_if(op.host_time_known && op.calls > 0,
                                       static_cast<double>(op.total_ns) / static_cast<double>(std::max<std::uint64_t>(op.calls, 1))),
                          shapes_cell(op.shapes), top_kernels(op.kernels)});
    table.rows.back().data = {{"operator", op.name}, {"stage", stages_of(op.stages)}};
    if (first) table.rows.back().id = operator_id(i);
  }
  if (shown < source.entries.size()) table.foot.push_back(other_operators(source, shown));
  table.text_rows = kTextOperators;
  const std::uint64_t all = source.entries.size() + source.entries_left_out;
  if (all > kTextOperators) table.text_note = fmt::format("{} in all: operators.md has more.", plural(all, "operator"));
  return table;
}

Paragraph origin(const OperatorTable& source) {
  std::string text = "From " + source.source + (source.file.empty() ? "" : ": " + source.file);
  if (source.gpu_share)
    text +=
        fmt::format("; {} of the GPU time{} is inside an operator", share_text(source.gpu_share), source.scaled ? " of its stages" : "");
  if (source.entries_left_out > 0) text += "; " + plural(source.entries_left_out, "operator") + " with little time left out";
  const std::string graphs = graph_capture_text(source.graph_unjoined_share);
  return {sentence(text) + (graphs.empty() ? "" : " " + graphs)};
}

Table step_table(const OperatorStep& step) {
  Table table{"One " + step.stage + ", operator by operator",
              {{"#", kRight}, {"Operator"}, {"Type"}, {"Layer"}, {"Shapes", kLeft, kWide}, {"Host", kRight}, {"GPU", kRight}, {"Kernels"}}};
  const std::vector<OuterCall> calls = outer_calls(step);
  const std::size_t shown = std::min(kMaxRows, calls.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const OperatorCall& call = *calls[i].call;
    const std::string shapes = typed_shapes(call.shapes, call.dtypes);
    table.rows.push_back({count_cell(call.index), code(call.name), std::string(key_of(call.type)), text_cell(call.layer),
                          shapes.empty() ? Cell(kNoValue) : Cell(code(shapes)), time_cell(call.host_ns), time_cell(calls[i].gpu_ns),
                          top_kernels(calls[i].kernels)});
  }
  table.filter = true;
  table.text_rows = kTextOperators;
  if (shown > kTextOperators) table.text_note = fmt::format("{} in all: operators.md has more.", plural(calls.size(), "row"));
  return table;
}

Table type_table(const OperatorStep& step) {
  Table table{"By type", {{"Type"}, {"Nodes", kRight}, {"Time", kRight}, {"Share", kRight}}};
  for (const TypeTime& type : times_by_type(step))
    table.rows.push_back(
        {std::string(key_of(type.type)), count_cell(type.nodes), time_cell(static_cast<double>(type.own_ns)), share_cell(type.share)});
  table.sortable = true;
  return table;
}

Table node_table(const std::vector<NodeTime>& nodes, std::size_t all) {
  Table table{"Node by node", numbers({"#"}) + texts({"Node", "Operator", "Type", "Provider"}) + texts({"Shapes"}, kWide) +
                                  numbers({"Median", "p10 to p90", "Share"}) + texts({"Kernels"})};
  for (const NodeTime& node : nodes) {
    const OperatorCall& call = *node.call;
    const std::string shapes = typed_shapes(call.shapes, call.dtypes);
    table.rows.push_back({count_cell(call.index), code(node_text(call)), text_cell(call.name), std::string(key_of(call.type)),
                          text_cell(call.provider), shapes.empty() ? Cell(kNoValue) : Cell(code(shapes)),
                          time_cell(static_cast<double>(node.own_ns)), percentiles_text(node.spread, time_text), share_cell(node.share),
                          top_kernels(call.kernels)});
  }
  table.sortable = table.filter = true;
  table.text_rows = kTextOperators;
  if (all > kTextOperators) table.text_note = fmt::format("{} in all: operators.md has more.", plural(all, "node"));
  return table;
}

void add_nodes(const OperatorStep& step, Blocks& blocks) {
  const std::vector<NodeTime> nodes = times_by_node(step, kMaxRows);
  blocks.emplace_back(Heading{nodes_title(step)});
  add(blocks, Paragraph{nodes_text(step, nodes.size())});
  blocks.emplace_back(type_table(step));
  blocks.emplace_back(node_table(nodes, step.calls.size()));
}

void add_step(const OperatorStep& step, Blocks& blocks) {
  blocks.emplace_back(Heading{fmt::format("One {}, operator by operator", step.stage)});
  add(blocks, Paragraph{step_text(step, std::min(kMaxRows, outer_calls(step).size()))});
  blocks.emplace_back(step_table(step));
}

}  // namespace

Section operators(const Run& run) {
  Section out{"operators", "Operators", "Operators"};
  if (main_operators(run) == nullptr) {
    out.blocks = {not_captured(run.operators_note, "the capture holds no operators")};
    return out;
  }
  out.blocks = {Paragraph{"Self leaves out what an operator calls. Add self times only."}};
  for (const auto& source : run.operators) {
    if (source.entries.empty()) continue;
    add(out.blocks, origin(source));
    add(out.blocks, Paragraph{sentence(source.note)});
    out.blocks.emplace_back(operator_table(source, &source == &run.operators.front()));
  }
  for (const auto& step : run.operator_steps) has_nodes(step) ? add_nodes(step, out.blocks) : add_step(step, out.blocks);
  return out;
}

Section layers(const Run& run) {
  Section out{"layers", "Layers", "Layers"};
  if (run.layers.empty()) {
    if (!run.layers_note.empty()) out.blocks = {not_captured(run.layers_note, "")};
    return out;
  }
  Table table{"Layers",
              {{"Layer", kLeft, kAlways, "layer"},
               {"Type", kLeft, kAlways, "type"},
               {"Calls", kRight, kAlways, "calls", false, true},
               {"GPU, total", kRight, kAlways, "gpu_total"},
               {"GPU, self", kRight, kAlways, "gpu_self", false, true},
               {"Host, total", kRight, kAlways, "host_total"},
               {"Host, self", kRight, kWide, "host_self", false, true},
               {"Top kernels", kLeft, kAlways, "kernels"}}};
  table.sortable = table.filter = true;
  table.name = "layers";
  const std::size_t shown = std::min(kMaxRows, run.layers.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const LayerEntry& layer = run.layers[i];
    table.rows.push_back({code(layer.name), text_cell(layer.type), count_cell(layer.calls), time_cell(layer.cuda_total_ns),
                          time_cell(layer.cuda_self_ns), time_cell(static_cast<double>(layer.total_ns)),
                          time_cell(static_cast<double>(layer.self_ns)), top_kernels(layer.kernels)});
    table.rows.back()[0].indent = layer.depth;
  }
  table.text_rows = kTextLayers;
  if (run.layers.size() > kTextLayers)
    table.text_note = fmt::format("{} in all: operators.md has every one.", plural(run.layers.size(), "module"));
  if (run.layers.size() > shown) table.foot.push_back({plural(run.layers.size() - shown, "more module") + " in run.json"});
  out.blocks = {table};
  return out;
}

}  // namespace nl::exporters::report
