#include "exporters/report/kernels_md.h"

#include <fmt/core.h>

#include "exporters/report/counter_text.h"
#include "exporters/report/kernel_text.h"
#include "exporters/report/markdown.h"
#include "model/words.h"

namespace nl::exporters {
namespace {

MarkdownTable kernel_table() {
  std::vector<MarkdownTable::Column> columns = {{"kernel_name", false}, {"total_ms", true}, {"calls", true}, {"mean_ms", true}, {"device", true},
                        {"share %", true}, {"p50 µs", true}, {"p99 µs", true}, {"stages", false}};
  for (const MetricInfo* metric : columns_of(MetricPlace::kLaunch)) columns.push_back({std::string(metric->title), true});
  columns.push_back({"bound by", false});
  return MarkdownTable(columns);
}

std::vector<std::string> kernel_row(const KernelEntry& kernel, NameFootnotes& names) {
  std::vector<std::string> cells = {names.cell(kernel.name),
                                    fmt::format("{:.6f}", static_cast<double>(kernel.time.total_ns) / 1e6),
                                    std::to_string(kernel.time.count),
                                    fmt::format("{:.6f}", kernel.time.mean_ns / 1e6),
                                    std::to_string(kernel.device),
                                    fmt::format("{:.1f}", kernel.gpu_share * 100),
                                    fmt::format("{:.2f}", kernel.time.median_ns / 1e3),
                                    fmt::format("{:.2f}", static_cast<double>(kernel.time.p99_ns) / 1e3),
                                    split_text(kernel)};
  const NcuSample* sample = main_sample(kernel);
  for (const MetricInfo* metric : columns_of(MetricPlace::kLaunch))
    cells.push_back(metric_text(metric->unit, sample == nullptr ? std::nullopt : sample->values[metric->metric]));
  cells.push_back(sample != nullptr && sample->bound_by ? std::string(key_of(*sample->bound_by)) : kNoValue);
  return cells;
}

std::string micros(Ns time_ns) { return fmt::format("{:.2f}", static_cast<double>(time_ns) / 1e3); }

std::string dims(const Dim3& d) { return fmt::format("{} × {} × {}", d.x, d.y, d.z); }

// Every launch that ncu, or CUPTI, measured beside what the trace timed of the same name, grid and block.
std::string proof(const std::vector<KernelEntry>& kernels, NameFootnotes& names) {
  MarkdownTable table({{"kernel", false}, {"grid", false}, {"block", false}, {"stage", false}, {"nsys median µs", true},
                       {"min–max µs", true}, {"nsys calls", true}, {"ncu µs", true}, {"agree", false}, {"joined by", false},
                       {"L2 %", true}, {"DRAM MB", true}, {"measured by", false}});
  for (const auto& kernel : kernels)
    for (const auto& sample : kernel.ncu)
      table.add({names.cell(kernel.name), dims(sample.grid), dims(sample.block), sample.stage ? markdown_text(*sample.stage) : kNoValue,
                 micros(sample.nsys_median_ns), micros(sample.nsys_min_ns) + "–" + micros(sample.nsys_max_ns),
                 std::to_string(sample.nsys_calls), sample.ncu_duration_ns ? micros(*sample.ncu_duration_ns) : kNoValue,
                 sample.durations_agree ? (*sample.durations_agree ? "yes" : "**no**") : kNoValue,
                 markdown_text(sample.matched_by), percent_text(sample.values[Metric::kL2]),
                 sample.values[Metric::kDramBytes] ? fmt::format("{:.3f}", *sample.values[Metric::kDramBytes] / 1e6) : kNoValue,
                 sample.measured_by == Meter::kNone ? kNoValue : std::string(key_of(sample.measured_by))});
  if (table.empty()) return {};
  const std::string by = measured_by(kernels);
  if (by == "ncu")
    return "\n## Launches that ncu profiled\n\nEach beside nsys' launches of the same name, grid and block.\n\n" + table.text();
  return fmt::format("\n## Launches that {} measured\n\nEach beside the trace's launches of the same name, grid and block: the columns "
                     "called nsys are of the trace, that called ncu is of the measured launch.\n\n", by) + table.text();
}

std::string stalls(const std::vector<KernelEntry>& kernels, NameFootnotes& names) {
  MarkdownTable table({{"kernel", false}, {"samples", true}, {"the most frequent reasons", false}});
  for (const auto& kernel : kernels)
    if (!kernel.stalls.empty())
      table.add({names.cell(kernel.name), std::to_string(stall_samples(kernel)), markdown_text(stalls_text(kernel))});
  if (table.empty()) return {};
  return "\n## What stalled the warps\n\nBy samples of their program counters; run.json has every reason.\n\n" + table.text();
}

std::string missing_samples(const std::vector<KernelEntry>& kernels, NameFootnotes& names) {
  std::string text;
  for (const auto& kernel : kernels)
    if (kernel.selected && kernel.ncu.empty() && !kernel.ncu_note.empty())
      text += fmt::format("- {}: {}\n", names.cell(kernel.name), markdown_text(kernel.ncu_note));
  return text.empty() ? text : "\n## Chosen, without a sample\n\n" + text;
}

}  // namespace

std::string kernels_markdown(const Run& run) {
  std::string text = "# Kernels\n\n";
  if (!run.kernels)
    return text + fmt::format("Not captured: {}.\n", run.kernels_note.empty() ? "the capture holds no kernels" : markdown_text(run.kernels_note));
  if (run.kernels->empty())
    return text + fmt::format("None: {}.\n", run.kernels_note.empty() ? "kernels were traced and none ran" : markdown_text(run.kernels_note));
  NameFootnotes names;
  MarkdownTable table = kernel_table();
  for (const auto& kernel : *run.kernels) table.add(kernel_row(kernel, names));
  text += table.text();
  text += proof(*run.kernels, names);
  text += stalls(*run.kernels, names);
  text += missing_samples(*run.kernels, names);
  if (const std::string list = names.list(); !list.empty()) text += "\n## Names in full\n\n" + list;
  return text;
}

}  // namespace nl::exporters
