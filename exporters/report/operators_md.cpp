#include <fmt/core.h>

#include <algorithm>

#include "exporters/report/reports.h"
#include "exporters/report/sections/executive_summary.h"
#include "exporters/report/text/markdown.h"
#include "exporters/report/text/operator_text.h"
#include "exporters/report/text/run_text.h"
#include "model/operator.h"
#include "model/words.h"

namespace nl::exporters {
namespace {

using namespace report;

constexpr std::size_t kLongestShape = 80;  // that of a list of tensors can be as long as the list
constexpr std::size_t kMaxStepRows = 200;

std::string ms_or_missing(const std::optional<Ns>& ns) { return ns ? exact_ms_text(static_cast<double>(*ns)) : kNotCaptured; }

std::string mean_ms(const std::optional<Ns>& ns, std::uint64_t calls) {
  if (!ns) return kNotCaptured;
  return calls == 0 ? kNoValue : exact_ms_text(static_cast<double>(*ns) / static_cast<double>(calls));
}

std::optional<Ns> host_ns(const OperatorEntry& entry, Ns OperatorEntry::* time) {
  return entry.host_time_known ? std::optional<Ns>(entry.*time) : std::nullopt;
}

// Of the GPU time of all operators; of the host's where the GPU was not captured.
std::string operator_share(const OperatorEntry& entry, const OperatorTable& table, Ns host_self_ns) {
  const bool gpu = entry.cuda_self_ns && table.cuda_ns;
  if (!gpu && !entry.host_time_known) return kNoValue;
  const auto share =
      ratio(static_cast<double>(gpu ? *entry.cuda_self_ns : entry.self_ns), static_cast<double>(gpu ? *table.cuda_ns : host_self_ns));
  return share ? fmt::format("{:.1f}", *share * 100) : kNoValue;
}

std::string cut_shapes(const std::string& shapes) { return shapes.size() > kLongestShape ? cut(shapes, kLongestShape) + "…" : shapes; }

std::string shapes_text(const std::vector<OperatorShape>& shapes) {
  std::vector<std::string> words;
  for (const auto& shape : shapes) words.push_back(fmt::format("{} ×{}", typed_shapes(cut_shapes(shape.text), shape.dtypes), shape.calls));
  return words.empty() ? kNoValue : join(words, "; ");
}

Text kernels_text(const std::vector<OperatorKernel>& kernels) {
  Text text;
  for (const auto& kernel : kernels)
    text += Text(text.empty() ? "" : "; ") + kernel_name(kernel.name) +
            Text(fmt::format(" ×{} ({} ms)", kernel.calls, exact_ms_text(static_cast<double>(kernel.total_ns))));
  return text.empty() ? Text(kNoValue) : text;
}

std::string stages_text(const OperatorEntry& entry) {
  Ns whole = 0;
  for (const auto& [stage, ns] : entry.stages) whole += ns;
  return split_text(entry.stages, whole);
}

Table operator_table(const Run& run, const OperatorTable& source) {
  Table table{"Operators", texts({"op_name"}) +
                               numbers({"total_time_ms", "cuda_time_ms", "calls", "mean_ms", "self_ms", "cuda_self_ms", "share %"}) +
                               texts({"type", "shapes", "top kernels", "stages" + source_label(run)})};
  Ns host_self_ns = 0;
  for (const auto& entry : source.entries) host_self_ns += entry.self_ns;
  for (const auto& entry : source.entries) {
    const auto mean_of = entry.host_time_known ? std::optional<Ns>(entry.total_ns) : entry.cuda_total_ns;
    table.rows.push_back({Text(entry.name, Inline::kName), ms_or_missing(host_ns(entry, &OperatorEntry::total_ns)),
                          ms_or_missing(entry.cuda_total_ns), std::to_string(entry.calls), mean_ms(mean_of, entry.calls),
                          ms_or_missing(host_ns(entry, &OperatorEntry::self_ns)), ms_or_missing(entry.cuda_self_ns),
                          operator_share(entry, source, host_self_ns), text_cell(entry.type), shapes_text(entry.shapes),
                          kernels_text(entry.kernels), stages_text(entry)});
  }
  return table;
}

std::string coverage_text(const OperatorTable& source) {
  if (!source.cuda_ns) return "GPU time: not captured.";
  std::string text = fmt::format("GPU time inside these operators: {} ms", exact_ms_text(static_cast<double>(*source.cuda_ns)));
  if (source.gpu_share)
    text += fmt::format(", {:.1f} % of {}", *source.gpu_share * 100,
                        source.scaled ? "the GPU time of its stages" : "the capture's kernels and copies");
  const std::string graphs = graph_capture_text(source.graph_unjoined_share);
  return text + (graphs.empty() ? "." : ". " + graphs);
}

Section operator_section(const Run& run, const OperatorTable& source) {
  Section out{"", "", source.source + (source.file.empty() ? "" : " (" + source.file + ")")};
  add(out.blocks, Paragraph{sentence(source.note)});
  if (source.entries.empty()) {
    add(out.blocks, Paragraph{"None."});
  } else {
    add(out.blocks, Paragraph{coverage_text(source)});
    if (std::none_of(source.entries.begin(), source.entries.end(), [](const auto& e) { return e.host_time_known; }))
      add(out.blocks, Paragraph{"Host time: not captured; mean_ms is GPU time here."});
    add(out.blocks, operator_table(run, source));
  }
  if (source.entries_left_out > 0)
    add(out.blocks, Paragraph{"Left out: " + plural(source.entries_left_out, "operator") + " with less time."});
  if (source.ranges_left_out > 0)
    add(out.blocks, Paragraph{"Left out: " + plural(source.ranges_left_out, "range") +
                              " that no end or another thread's end closed; their time is not known."});
  return out;
}

Section step_section(const OperatorStep& step) {
  Section out{"", "", fmt::format("One {}, operator by operator", step.stage)};
  const std::vector<OuterCall> calls = outer_calls(step);
  const std::size_t shown = std::min(kMaxStepRows, calls.size());
  add(out.blocks, Paragraph{step_text(step, shown)});
  const bool lines = std::any_of(step.calls.begin(), step.calls.end(), [](const OperatorCall& call) { return !call.line.empty(); });
  Table table{"One " + step.stage, numbers({"op_index"}) + texts({"op_name", "op_type", "layer", "shapes"}) +
                                       numbers({"host_ms", "cuda_ms"}) + texts({"kernels"})};
  if (lines) table.columns.push_back({"line"});
  for (std::size_t i = 0; i < shown; ++i) {
    const OperatorCall& call = *calls[i].call;
    const std::string shapes = typed_shapes(cut_shapes(call.shapes), call.dtypes);
    table.rows.push_back({std::to_string(call.index), Text(call.name, Inline::kName), std::string(key_of(call.type)), text_cell(call.layer),
                          text_cell(shapes), ms_or_missing(call.host_ns), ms_or_missing(calls[i].gpu_ns), kernels_text(calls[i].kernels)});
    if (lines) table.rows.back().push_back(text_cell(call.line));
  }
  add(out.blocks, std::move(table));
  return out;
}

Table exact_type_table(const OperatorStep& step) {
  Table table{"By type", {{"op_type"}, {"nodes", kRight}, {"median_ms", kRight}, {"share %", kRight}}};
  for (const TypeTime& type : times_by_type(step))
    table.rows.push_back({std::string(key_of(type.type)), std::to_string(type.nodes), exact_ms_text(static_cast<double>(type.own_ns)),
                          fmt::format("{:.1f}", type.share * 100)});
  return table;
}

Table exact_node_table(const std::vector<NodeTime>& nodes) {
  Table table{"By node", numbers({"op_index"}) + texts({"node", "op_name", "op_type", "provider", "shapes"}) +
                             numbers({"median_ms", "p10 to p90 ms", "share %"}) + texts({"kernels"})};
  for (const NodeTime& node : nodes) {
    const OperatorCall& call = *node.call;
    table.rows.push_back({std::to_string(call.index), Text(node_text(call), Inline::kName), text_cell(call.name),
                          std::string(key_of(call.type)), text_cell(call.provider),
                          text_cell(typed_shapes(cut_shapes(call.shapes), call.dtypes)), exact_ms_text(static_cast<double>(node.own_ns)),
                          percentiles_text(node.spread, exact_ms_text), fmt::format("{:.1f}", node.share * 100),
                          kernels_text(call.kernels)});
  }
  return table;
}

Section nodes_section(const OperatorStep& step) {
  Section out{"", "", nodes_title(step)};
  const std::vector<NodeTime> nodes = times_by_node(step, kMaxStepRows);
  add(out.blocks, Paragraph{nodes_text(step, nodes.size())});
  add(out.blocks, exact_type_table(step));
  add(out.blocks, exact_node_table(nodes));
  return out;
}

Section layers_section(const Run& run) {
  Section out{"", "", "Layers"};
  if (run.layers.empty()) {
    out.blocks = {not_captured(run.layers_note, "")};
    return out;
  }
  add(out.blocks, Paragraph{sentence(run.layers_note)});
  Table table{"Layers", texts({"layer", "type"}) +
                            numbers({"total_time_ms", "cuda_time_ms", "calls", "mean_ms", "self_ms", "cuda_self_ms"}) + texts({"kernels"})};
  for (const auto& layer : run.layers)
    table.rows.push_back({Text(layer.name, Inline::kName), text_cell(layer.type), exact_ms_text(static_cast<double>(layer.total_ns)),
                          ms_or_missing(layer.cuda_total_ns), std::to_string(layer.calls), mean_ms(layer.total_ns, layer.calls),
                          exact_ms_text(static_cast<double>(layer.self_ns)), ms_or_missing(layer.cuda_self_ns),
                          kernels_text(layer.kernels)});
  add(out.blocks, Paragraph{"In the order in which they first run. A layer's total includes the layers inside it."});
  add(out.blocks, std::move(table));
  return out;
}

}  // namespace

std::string operators_markdown(const Run& run) {
  Document document{"Operators", "", {}, {}, {}, true};
  document.lead = {notes(executive_summary(run))};
  if (run.operators.empty()) document.lead.emplace_back(not_captured(run.operators_note, "the capture holds no operators"));
  else
    document.lead.emplace_back(Paragraph{
        "total_time_ms and cuda_time_ms include what an operator calls: do not add them. self_ms and cuda_self_ms do not, and can be "
        "added. Host and GPU times overlap. cuda_time_ms is the time of the kernels and copies launched inside. mean_ms is "
        "total_time_ms ÷ calls."});
  for (const auto& source : run.operators) document.sections.push_back(operator_section(run, source));
  for (const auto& step : run.operator_steps) document.sections.push_back(has_nodes(step) ? nodes_section(step) : step_section(step));
  document.sections.push_back(layers_section(run));
  return markdown(document);
}

}  // namespace nl::exporters
