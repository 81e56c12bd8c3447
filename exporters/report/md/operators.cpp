#include <fmt/core.h>

#include <algorithm>

#include "exporters/report/counter_text.h"
#include "exporters/report/figure_text.h"
#include "exporters/report/markdown.h"
#include "exporters/report/md/sections.h"
#include "model/words.h"

namespace nl::exporters::report_md {
namespace {

constexpr std::size_t kTopKernels = 15, kTopOperators = 10, kTopLayers = 24;

std::string top_kernel(const std::vector<OperatorKernel>& kernels) {
  return kernels.empty() ? kNoValue : markdown_text(short_kernel_name(kernels.front().name));
}

std::string operator_table(const OperatorTable& source) {
  MarkdownTable table({{"operator", false},
                       {"GPU, self", true},
                       {"share", true},
                       {"GPU, total", true},
                       {"host, self", true},
                       {"host, total", true},
                       {"calls", true},
                       {"top kernel", false}});
  const std::size_t shown = std::min(kTopOperators, source.entries.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const OperatorEntry& op = source.entries[i];
    const std::optional<double> share =
        op.cuda_self_ns && source.cuda_ns.value_or(0) > 0
            ? std::optional(static_cast<double>(*op.cuda_self_ns) / static_cast<double>(*source.cuda_ns))
            : std::nullopt;
    table.add({markdown_text(op.name), optional_time_text(op.cuda_self_ns), share_text(share),
               optional_time_text(op.cuda_total_ns), time_text(static_cast<double>(op.self_ns)),
               time_text(static_cast<double>(op.total_ns)), std::to_string(op.calls), top_kernel(op.kernels)});
  }
  std::string text = fmt::format("\nFrom {}{}", markdown_text(source.source),
                                 source.file.empty() ? "" : ": " + markdown_text(source.file));
  if (source.gpu_share)
    text += fmt::format("; {} of the GPU's time is inside an operator", share_text(source.gpu_share));
  text += ".\n\n" + table.text();
  if (!source.note.empty()) text += fmt::format("\n{}\n", markdown_text(source.note));
  const std::uint64_t all = source.entries.size() + source.entries_left_out;
  return all > shown ? text + fmt::format("\n{} operators in all: operators.md has more.\n", all) : text;
}

}  // namespace

std::string operators(const Run& run) {
  std::string text = "\n## Operators with the most time\n";
  const bool any = std::any_of(run.operators.begin(), run.operators.end(),
                               [](const OperatorTable& table) { return !table.entries.empty(); });
  if (!any)
    return text + fmt::format("\nNot captured: {}.\n", run.operators_note.empty() ? "the capture holds no operators"
                                                                                  : markdown_text(run.operators_note));
  text += "\nSelf leaves out what an operator calls; only self times may be added up.\n";
  for (const auto& table : run.operators)
    if (!table.entries.empty()) text += operator_table(table);
  return text;
}

std::string layers(const Run& run) {
  if (run.layers.empty())
    return run.layers_note.empty() ? std::string()
                                   : fmt::format("\n## Layers\n\nNot captured: {}.\n", markdown_text(run.layers_note));
  MarkdownTable table({{"layer", false},
                       {"type", false},
                       {"calls", true},
                       {"GPU, total", true},
                       {"GPU, self", true},
                       {"host, total", true},
                       {"top kernel", false}});
  const std::size_t shown = std::min(kTopLayers, run.layers.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const LayerEntry& layer = run.layers[i];
    table.add({markdown_text(layer.name), markdown_text(layer.type), std::to_string(layer.calls),
               optional_time_text(layer.cuda_total_ns), optional_time_text(layer.cuda_self_ns),
               time_text(static_cast<double>(layer.total_ns)), top_kernel(layer.kernels)});
  }
  std::string text = "\n## Layers\n\n" + table.text();
  return shown < run.layers.size()
             ? text + fmt::format("\n{} modules in all: operators.md has every one.\n", run.layers.size())
             : text;
}

std::string kernels(const Run& run) {
  std::string text = "\n## Kernels with the most time\n\n";
  if (!run.kernels || run.kernels->empty())
    return text +
           fmt::format("{}: {}.\n", run.kernels ? "None" : "Not captured",
                       run.kernels_note.empty() ? "the capture holds no kernels" : markdown_text(run.kernels_note));
  std::vector<MarkdownTable::Column> columns = {
      {"kernel", false}, {"total", true}, {"share", true},  {"calls", true},  {"p50", true},
      {"p99", true},     {"stages", false}, {"SM %", true}, {"DRAM %", true}, {"bound by", false}};
  const bool stalls = any_stalls(*run.kernels);
  if (stalls) columns.push_back({"warps stalled by", false});
  MarkdownTable table(std::move(columns));
  NameFootnotes names;  // numbers the names as kernels.md does: both begin at the top
  for (std::size_t i = 0; i < std::min(kTopKernels, run.kernels->size()); ++i) {
    const KernelEntry& kernel = (*run.kernels)[i];
    const NcuSample* sample = main_sample(kernel);
    std::vector<std::string> cells = {names.cell(kernel.name),
                                      time_text(static_cast<double>(kernel.time.total_ns)),
                                      fmt::format("{:.1f} %", kernel.gpu_share * 100),
                                      std::to_string(kernel.time.count),
                                      time_text(kernel.time.median_ns),
                                      time_text(static_cast<double>(kernel.time.p99_ns)),
                                      split_text(kernel),
                                      percent_text(sample ? sample->values[Metric::kSm] : std::nullopt),
                                      percent_text(sample ? sample->values[Metric::kDram] : std::nullopt),
                                      sample && sample->bound_by ? std::string(key_of(*sample->bound_by)) : kNoValue};
    if (stalls) cells.push_back(markdown_text(stalls_text(kernel)));
    table.add(std::move(cells));
  }
  text += table.text();
  const std::string by = measured_by(*run.kernels);
  if (by.find("CUPTI") != std::string::npos)
    text += fmt::format("\nSM %, DRAM % and what it is bound by were measured by {}.\n", by);
  return text + fmt::format("\n{} kernels in all: kernels.md has every one{}.\n", run.kernels->size(),
                            by.empty() ? ", and the names [n] in full"
                                       : ", the names [n] in full, and what joins the measured launches to those of the trace");
}

}  // namespace nl::exporters::report_md
