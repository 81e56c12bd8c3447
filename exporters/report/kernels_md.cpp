#include <fmt/core.h>

#include "exporters/report/reports.h"
#include "exporters/report/text/markdown.h"
#include "exporters/report/text/run_text.h"
#include "model/words.h"

namespace nl::exporters {
namespace {

using namespace report;

Text kernel_name(const KernelEntry& kernel) { return Text(kernel.name.empty() ? "(no name)" : kernel.name, Inline::kName); }

Table all_kernels(const Run& run, const std::vector<KernelEntry>& kernels) {
  Table table{"Kernels",
              {{"kernel_name"},
               {"total_ms", kRight},
               {"calls", kRight},
               {"mean_ms", kRight},
               {"device", kRight},
               {"share %", kRight},
               {"p50 µs", kRight},
               {"p99 µs", kRight},
               {"stages" + source_label(run)}}};
  for (const MetricInfo* metric : columns_of(MetricPlace::kLaunch)) table.columns.push_back({std::string(metric->title), kRight});
  table.columns.push_back({"bound by"});
  for (const auto& kernel : kernels) {
    const NcuSample* sample = main_sample(kernel);
    Row row = {kernel_name(kernel),
               exact_ms_text(static_cast<double>(kernel.time.total_ns)),
               std::to_string(kernel.time.count),
               exact_ms_text(kernel.time.mean_ns),
               std::to_string(kernel.device),
               fmt::format("{:.1f}", kernel.gpu_share * 100),
               us_text(kernel.time.median_ns),
               us_text(static_cast<double>(kernel.time.p99_ns)),
               split_text(kernel)};
    for (const MetricInfo* metric : columns_of(MetricPlace::kLaunch))
      row.push_back(metric_cell(metric->unit, sample == nullptr ? std::nullopt : sample->values[metric->metric]));
    row.push_back(sample == nullptr ? Cell(kNoValue) : bound_cell(sample->bound_by, sample->bound_memory));
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::string dims(const Dim3& d) { return fmt::format("{} × {} × {}", d.x, d.y, d.z); }

Row launch_row(const KernelEntry& kernel, const NcuSample& sample) {
  const auto us = [](Ns ns) { return us_text(static_cast<double>(ns)); };
  const Text agree = !sample.durations_agree ? Text(kNoValue) : *sample.durations_agree ? Text("yes") : strong("no");
  return {kernel_name(kernel),
          dims(sample.grid),
          dims(sample.block),
          word_cell(sample.stage),
          us(sample.nsys_median_ns),
          us(sample.nsys_min_ns) + "–" + us(sample.nsys_max_ns),
          std::to_string(sample.nsys_calls),
          sample.ncu_duration_ns ? us(*sample.ncu_duration_ns) : kNoValue,
          agree,
          key_cell(sample.matched_by),
          percent_cell(sample.values[Metric::kL2]),
          sample.values[Metric::kDramBytes] ? fmt::format("{:.3f}", *sample.values[Metric::kDramBytes] / 1e6) : kNoValue,
          key_cell(sample.measured_by)};
}

// Every launch that ncu, or CUPTI, measured beside what the trace timed of the same name, grid and block.
Section launches(const std::vector<KernelEntry>& kernels) {
  Section out{"", "", "Launches measured by " + measured_by(kernels)};
  Table table{"Launches",
              {{"kernel"},
               {"grid"},
               {"block"},
               {"stage"},
               {"nsys median µs", kRight},
               {"min–max µs", kRight},
               {"nsys calls", kRight},
               {"ncu µs", kRight},
               {"agree"},
               {"joined by"},
               {"L2 %", kRight},
               {"DRAM MB", kRight},
               {"measured by"}}};
  bool only_ncu = true;
  for (const auto& kernel : kernels)
    for (const auto& sample : kernel.ncu) {
      table.rows.push_back(launch_row(kernel, sample));
      only_ncu = only_ncu && !by_cupti(sample);
    }
  if (table.rows.empty()) return out;
  out.blocks = {
      Paragraph{
          only_ncu
              ? "Each beside nsys' launches of the same name, grid and block."
              : "Each beside the trace's launches of the same name, grid and block. Columns named nsys are of the trace, the one named "
                "ncu is of the measured launch."},
      table};
  return out;
}

Section stalls(const std::vector<KernelEntry>& kernels) {
  Section out{"", "", "What stalled the warps"};
  Table table{"Stalls", {{"kernel"}, {"samples", kRight}, {"most frequent reasons"}}};
  for (const auto& kernel : kernels) {
    std::uint64_t samples = 0;
    for (const auto& stall : kernel.stalls) samples += stall.samples;
    if (!kernel.stalls.empty()) table.rows.push_back({kernel_name(kernel), std::to_string(samples), stalls_text(kernel)});
  }
  if (!table.rows.empty()) out.blocks = {Paragraph{"From samples of program counters; run.json has every reason."}, table};
  return out;
}

Section not_measured(const std::vector<KernelEntry>& kernels) {
  Section out{"", "", "Selected and not measured"};
  List list;
  for (const auto& kernel : kernels)
    if (kernel.selected && kernel.ncu.empty() && kernel.ncu_note)
      list.items.push_back({kernel_name(kernel) + Text(": " + text_of(*kernel.ncu_note))});
  add(out.blocks, std::move(list));
  return out;
}

}  // namespace

std::string kernels_markdown(const Run& run) {
  Document document{"Kernels", "", {}, {}, {}, true};
  if (!run.kernels || run.kernels->empty()) {
    document.lead = {run.kernels ? not_captured(run.kernels_note, "kernels were traced and none ran", "None")
                                 : not_captured(run.kernels_note, "the capture holds no kernels")};
    return markdown(document);
  }
  add(document.lead, Paragraph{kernel_times_note(run)});
  add(document.lead, all_kernels(run, *run.kernels));
  document.sections = {launches(*run.kernels), stalls(*run.kernels), not_measured(*run.kernels)};
  return markdown(document);
}

}  // namespace nl::exporters
