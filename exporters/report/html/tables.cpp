#include <fmt/core.h>

#include <algorithm>

#include "exporters/report/counter_text.h"
#include "exporters/report/figure_text.h"
#include "exporters/report/html/html_table.h"
#include "exporters/report/html/html_text.h"
#include "exporters/report/html/sections.h"
#include "model/words.h"

namespace nl::exporters::html {
namespace {

constexpr std::size_t kMaxRows =
    500;  // what is left out is summed in the last row: the file stays small, the sums right

std::string kernel_list(const std::vector<OperatorKernel>& kernels) {
  std::string out;
  for (std::size_t i = 0; i < std::min<std::size_t>(2, kernels.size()); ++i)
    out += fmt::format("{}<code>{}</code>", i == 0 ? "" : "<br>", text(short_kernel_name(kernels[i].name)));
  return out.empty() ? kNoValue : out;
}

std::string shape_list(const std::vector<OperatorShape>& shapes) {
  if (shapes.empty()) return kNoValue;
  return fmt::format("<code>{}</code>{}", text(shapes.front().text),
                     shapes.size() > 1 ? fmt::format(" and {} more", shapes.size() - 1) : "");
}

std::optional<double> share_of(const std::optional<Ns>& part, const std::optional<Ns>& whole) {
  if (!part || whole.value_or(0) <= 0) return std::nullopt;
  return static_cast<double>(*part) / static_cast<double>(*whole);
}

std::string operator_table(const OperatorTable& source) {
  Table table("Operators from " + source.source, {{"Operator"},
                                                  {"GPU, self", true},
                                                  {"Share", true},
                                                  {"GPU, total", true},
                                                  {"Host, self", true},
                                                  {"Host, total", true},
                                                  {"Calls", true},
                                                  {"Host mean", true},
                                                  {"Shapes"},
                                                  {"Top kernels"}});
  table.sortable(true);
  const std::size_t shown = std::min(kMaxRows, source.entries.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const OperatorEntry& op = source.entries[i];
    table.add(
        {{fmt::format("<code>{}</code>", text(op.name))},
         time_cell(op.cuda_self_ns),
         share_cell(share_of(op.cuda_self_ns, source.cuda_ns)),
         time_cell(op.cuda_total_ns),
         time_cell(static_cast<double>(op.self_ns)),
         time_cell(static_cast<double>(op.total_ns)),
         count_cell(op.calls),
         op.calls > 0 ? time_cell(static_cast<double>(op.total_ns) / static_cast<double>(op.calls)) : text_cell(""),
         {shape_list(op.shapes)},
         {kernel_list(op.kernels)}});
  }
  if (shown < source.entries.size()) {
    Ns self = 0, cuda = 0;
    std::uint64_t calls = 0;
    bool gpu = false;
    for (std::size_t i = shown; i < source.entries.size(); ++i) {
      self += source.entries[i].self_ns;
      cuda += source.entries[i].cuda_self_ns.value_or(0);
      gpu = gpu || source.entries[i].cuda_self_ns.has_value();
      calls += source.entries[i].calls;
    }
    const std::optional<Ns> rest = gpu ? std::optional(cuda) : std::nullopt;
    table.foot({{fmt::format("{} more", source.entries.size() - shown)},
                time_cell(rest),
                share_cell(share_of(rest, source.cuda_ns)),
                {""},
                time_cell(static_cast<double>(self)),
                {""},
                count_cell(calls)});
  }
  std::string origin = fmt::format("From {}{}", source.source, source.file.empty() ? "" : ": " + source.file);
  if (source.gpu_share)
    origin += fmt::format("; {} of the GPU's time is inside an operator", share_text(source.gpu_share));
  if (source.entries_left_out > 0)
    origin += fmt::format("; {} operators with little time are left out", count_text(source.entries_left_out));
  return paragraph(origin + ".") + paragraph(source.note) + table.markup();
}

std::vector<Cell> kernel_row(const KernelEntry& kernel, bool stalls) {
  const NcuSample* sample = main_sample(kernel);
  std::string stages;
  for (const auto& split : kernel.stages)
    if (kernel.time.total_ns > 0)
      stages += fmt::format("{}{} {:.0f} %", stages.empty() ? "" : ", ", text(split.stage),
                            100.0 * static_cast<double>(split.total_ns) / static_cast<double>(kernel.time.total_ns));
  std::vector<Cell> cells = {name_cell(kernel.name),
                             time_cell(static_cast<double>(kernel.time.total_ns)),
                             share_cell(kernel.gpu_share),
                             count_cell(kernel.time.count),
                             time_cell(kernel.time.mean_ns),
                             time_cell(kernel.time.median_ns),
                             time_cell(static_cast<double>(kernel.time.p99_ns)),
                             {stages.empty() ? kNoValue : stages}};
  for (const MetricInfo* metric : columns_of(MetricPlace::kLaunch))
    cells.push_back(percent_cell(sample == nullptr ? std::nullopt : sample->values[metric->metric]));
  cells.push_back(text_cell(sample != nullptr && sample->bound_by ? std::string(key_of(*sample->bound_by)) : ""));
  cells.push_back(count_cell(static_cast<std::uint64_t>(std::max(0, kernel.device))));
  if (stalls) cells.push_back(text_cell(kernel.stalls.empty() ? "" : stalls_text(kernel)));
  return cells;
}

}  // namespace

std::string operators(const Run& run) {
  const bool any = std::any_of(run.operators.begin(), run.operators.end(),
                               [](const OperatorTable& table) { return !table.entries.empty(); });
  if (!any)
    return section(
        "operators", "Operators",
        missing("Not captured: " +
                (run.operators_note.empty() ? std::string("the capture holds no operators") : run.operators_note) +
                "."));
  std::string body = paragraph("Self leaves out what an operator calls; only self times may be added up.");
  for (const auto& table : run.operators)
    if (!table.entries.empty()) body += operator_table(table);
  return section("operators", "Operators", body);
}

std::string layers(const Run& run) {
  if (run.layers.empty())
    return run.layers_note.empty() ? std::string()
                                   : section("layers", "Layers", missing("Not captured: " + run.layers_note + "."));
  Table table("Layers", {{"Layer"},
                         {"Type"},
                         {"Calls", true},
                         {"GPU, total", true},
                         {"GPU, self", true},
                         {"Host, total", true},
                         {"Host, self", true},
                         {"Top kernels"}});
  table.sortable(true);
  const std::size_t shown = std::min(kMaxRows, run.layers.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const LayerEntry& layer = run.layers[i];
    table.add(
        {{fmt::format("<code class=\"d{}\">{}</code>", std::min<std::uint32_t>(layer.depth, 5), text(layer.name))},
         text_cell(layer.type),
         count_cell(layer.calls),
         time_cell(layer.cuda_total_ns),
         time_cell(layer.cuda_self_ns),
         time_cell(static_cast<double>(layer.total_ns)),
         time_cell(static_cast<double>(layer.self_ns)),
         {kernel_list(layer.kernels)}});
  }
  std::string body = table.markup();
  if (shown < run.layers.size())
    body += paragraph(fmt::format("{} more modules in run.json.", run.layers.size() - shown));
  return section("layers", "Layers", body);
}

std::string kernels(const Run& run) {
  if (!run.kernels || run.kernels->empty())
    return section("kernels", "Kernels",
                   missing(fmt::format("{}: {}.", run.kernels ? "None" : "Not captured",
                                       run.kernels_note.empty() ? "the capture holds no kernels" : run.kernels_note)));
  std::vector<Table::Column> columns = {{"Kernel"},
                                        {"Total", true},
                                        {"Share", true},
                                        {"Calls", true},
                                        {"Mean", true},
                                        {"p50", true},
                                        {"p99", true},
                                        {"Stages"}};
  for (const MetricInfo* metric : columns_of(MetricPlace::kLaunch)) columns.push_back({column_title(*metric), true});
  columns.push_back({"Bound by"});
  columns.push_back({"GPU", true});
  const bool stalls = any_stalls(*run.kernels);
  if (stalls) columns.push_back({"Warps stalled by"});
  Table table("Kernels", std::move(columns));
  table.sortable(true);
  const std::size_t shown = std::min(kMaxRows, run.kernels->size());
  for (std::size_t i = 0; i < shown; ++i) table.add(kernel_row((*run.kernels)[i], stalls));
  if (shown < run.kernels->size()) {
    Ns total = 0;
    double share = 0;
    std::uint64_t calls = 0;
    for (std::size_t i = shown; i < run.kernels->size(); ++i) {
      total += (*run.kernels)[i].time.total_ns;
      share += (*run.kernels)[i].gpu_share;
      calls += (*run.kernels)[i].time.count;
    }
    table.foot({{fmt::format("{} more kernels", count_text(run.kernels->size() - shown))},
                time_cell(static_cast<double>(total)),
                share_cell(share),
                count_cell(calls)});
  }
  const std::string by = measured_by(*run.kernels);
  return section("kernels", "Kernels",
                 paragraph(fmt::format("By total GPU time. The columns from SM % to Bound by are of the launches that {} "
                                       "measured; a dash: not measured.",
                                       by.empty() ? "ncu" : by)) +
                     table.markup());
}

}  // namespace nl::exporters::html
