#include <fmt/core.h>

#include "exporters/report/reports.h"
#include "exporters/report/sections/sections.h"
#include "exporters/report/text/markdown.h"
#include "exporters/report/text/run_text.h"
#include "model/words.h"

namespace nl::exporters {
namespace {

using namespace report;

Table all_kernels(const Run& run, const std::vector<KernelEntry>& kernels) {
  const auto whole = [](double number) { return fmt::format("{:.0f}", number); };
  std::vector<PickedColumn> picks = {
      {"kernel_name", "kernel"},          {"total_ms", "total", exact_ms_text},
      {"calls", "calls", whole},          {"mean_ms", "mean", exact_ms_text},
      {"device", "gpu", whole},           {"share %", "share", [](double share) { return fmt::format("{:.1f}", share * 100); }},
      {"p50 µs", "p50", us_text},         {"p99 µs", "p99", us_text},
      {"longest µs", "longest", us_text}, {"stages" + source_label(run), "stages"}};
  for (const auto& counter : counter_columns()) picks.push_back({counter.head.title, counter.head.key});
  picks.push_back({"bound by", "bound_by"});
  std::vector<KernelRow> rows;
  for (std::size_t i = 0; i < kernels.size(); ++i)
    rows.push_back(kernel_row(run, {i, kernels[i].time.total_ns, kernels[i].time.count, kernels[i].gpu_share}));
  return table_of("Kernels", picked(kernel_columns(run), picks), rows);
}

std::string dims(const Dim3& d) { return fmt::format("{} × {} × {}", d.x, d.y, d.z); }

void add_launch(const KernelEntry& kernel, const NcuSample& sample, Table& table) {
  const auto us = [](Ns ns) { return us_text(static_cast<double>(ns)); };
  const auto& bytes = sample.values[Metric::kDramBytes];
  table.rows.push_back({kernel_name(kernel.name), dims(sample.grid), dims(sample.block), word_cell(sample.stage), us(sample.nsys_median_ns),
                        us(sample.nsys_min_ns) + "–" + us(sample.nsys_max_ns), std::to_string(sample.nsys_calls),
                        sample.ncu_duration_ns ? us(*sample.ncu_duration_ns) : kNoValue,
                        !sample.durations_agree   ? Text(kNoValue)
                        : *sample.durations_agree ? Text("yes")
                                                  : strong("no"),
                        key_cell(sample.matched_by), percent_cell(sample.values[Metric::kL2]),
                        bytes ? fmt::format("{:.3f}", *bytes / 1e6) : kNoValue, key_cell(sample.measured_by)});
}

// Every launch that ncu, or CUPTI, measured beside what the trace timed of the same name, grid and block.
Section launches(const std::vector<KernelEntry>& kernels) {
  Section out{"", "", "Launches measured by " + measured_by(kernels)};
  Table table{"Launches", texts({"kernel", "grid", "block", "stage"}) + numbers({"nsys median µs", "min–max µs", "nsys calls", "ncu µs"}) +
                              texts({"agree", "joined by"}) + numbers({"L2 %", "DRAM MB"}) + texts({"measured by"})};
  bool only_ncu = true;
  for (const auto& kernel : kernels)
    for (const auto& sample : kernel.ncu) {
      add_launch(kernel, sample, table);
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
    if (!kernel.stalls.empty()) table.rows.push_back({kernel_name(kernel.name), std::to_string(samples), stalls_text(kernel)});
  }
  if (!table.rows.empty()) out.blocks = {Paragraph{"From samples of program counters; run.json has every reason."}, table};
  return out;
}

Section not_measured(const std::vector<KernelEntry>& kernels) {
  Section out{"", "", "Selected and not measured"};
  List list;
  for (const auto& kernel : kernels)
    if (kernel.selected && kernel.ncu.empty() && kernel.ncu_note)
      list.items.push_back({kernel_name(kernel.name) + Text(": " + text_of(*kernel.ncu_note))});
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
