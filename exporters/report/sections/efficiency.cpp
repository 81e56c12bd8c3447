#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "exporters/report/sections/sections.h"
#include "exporters/report/text/links.h"
#include "exporters/report/text/run_text.h"

namespace nl::exporters::report {
namespace {

constexpr std::size_t kTextPoints = 20;

Paragraph peaks_line(const Run& run) {
  if (!run.peaks) return missing("The peaks of the GPU are not known.");
  const DevicePeaks& peaks = *run.peaks;
  std::vector<std::string> roofs;
  for (const auto& [dtype, rate] : peaks.flops_per_s) roofs.push_back(dtype + " " + flops_rate_text(rate));
  Text text = "Dense peaks of " + peaks.name;
  if (peaks.derived) text += Text(" (") + strong("derived") + ", not from a table)";
  return {text + fmt::format(": {}; memory {}. Source: {}.", roofs.empty() ? "none known" : join(roofs), bytes_rate_text(peaks.bytes_per_s),
                             peaks.source)};
}

BarChart utilisation_bars(const Run& run) {
  BarChart chart;
  const auto bar = [&](const std::string& stage, const char* what, const std::optional<double>& share, const char* colour) {
    if (!share) return;
    const std::string tip = fmt::format("{} {}: {}", stage, what, utilisation_text(share));
    chart.bars.push_back({stage, what, {{*share, colour, tip}}, 1, utilisation_text(share), tip, 0, 0});
  };
  for (const auto& entry : run.efficiency) {
    bar(stage_title(run, entry.stage), "MFU", entry.mfu, "b-compute");
    bar(stage_title(run, entry.stage), "MBU", entry.mbu, "b-copy");
  }
  return chart;
}

Fold work_terms(const Run& run, const StageEfficiency& entry) {
  Table table{"Work of one window of " + stage_title(run, entry.stage), {{"Term"}, {"Formula"}, {"FLOP", kRight}, {"Bytes", kRight}}};
  for (const auto& term : entry.terms)
    table.rows.push_back({text_cell(term.name), code_cell(term.formula), flops_text(term.flops), bytes_text(term.bytes)});
  table.foot = {{"Sum", "", flops_text(entry.flops), bytes_text(entry.bytes)}};
  Fold fold{table.label + (entry.dtype.empty() ? "" : " (" + entry.dtype + ")"), {table}};
  if (!entry.assumptions.empty()) fold.blocks.emplace_back(Paragraph{"Assumed: " + join(entry.assumptions, "; ") + "."});
  return fold;
}

Table utilisation_table(const Run& run) {
  Table table{"MFU and MBU", texts({"Stage"}) + texts({"dtype"}, kWide) +
                                 numbers({"MFU", "MBU", "MFU, GPU busy", "MBU, GPU busy", "Achieved", "FLOP/B", "Ideal"}) +
                                 texts({"Limit"})};
  for (const auto& entry : run.efficiency)
    table.rows.push_back({text_cell(stage_title(run, entry.stage)), text_cell(entry.dtype), utilisation_cell(entry.mfu),
                          utilisation_cell(entry.mbu), utilisation_cell(entry.mfu_busy), utilisation_cell(entry.mbu_busy),
                          flops_rate_text(entry.flops_per_s), figure_cell(entry.intensity),
                          time_cell_if(entry.ideal_ns.has_value(), entry.ideal_ns.value_or(0)), key_cell(entry.limit)});
  for (std::size_t i = 0; i < table.rows.size(); ++i) table.rows[i].id = limits_id(run.efficiency[i].stage);
  return table;
}

const char* point_colour(const RooflinePoint& point) {
  const auto bound = point.bound_by;
  if (!bound) return "p-none";
  return *bound == Bound::kCompute ? "p-compute" : *bound == Bound::kMemory ? "p-memory" : "p-latency";
}

// Roofs of the same height are one.
void add_roofs(const DevicePeaks& peaks, RooflineChart& chart) {
  std::map<double, std::string, std::greater<>> heights;
  for (const auto& [dtype, rate] : peaks.flops_per_s)
    if (rate > 0 && std::isfinite(rate)) heights[rate] += (heights[rate].empty() ? "" : ", ") + dtype;
  for (const auto& [rate, dtypes] : heights) chart.roofs.push_back({rate, dtypes + " " + flops_rate_text(rate)});
  chart.bytes_per_s = peaks.bytes_per_s.value_or(0);
  chart.memory = "memory " + bytes_rate_text(peaks.bytes_per_s);
}

RooflineChart roofline_chart(const Run& run) {
  RooflineChart chart;
  for (const auto& entry : run.efficiency)
    chart.points.push_back({entry.intensity.value_or(0), entry.flops_per_s.value_or(0), stage_title(run, entry.stage),
                            fmt::format("stage {}: {} at {} FLOP/B, over its wall time", stage_title(run, entry.stage),
                                        flops_rate_text(entry.flops_per_s), figure_text(entry.intensity))});
  std::size_t number = 0;
  for (const auto& point : run.roofline.points) {
    ++number;
    const std::string name = short_kernel_name(point.kernel);
    chart.points.push_back({point.intensity, point.flops_per_s, name,
                            fmt::format("{}. {}: {} at {} FLOP/B, {} of its roof", number, name, flops_rate_text(point.flops_per_s),
                                        figure_text(point.intensity), share_text(point.roof_share)),
                            point_colour(point), number});
  }
  if (run.peaks) add_roofs(*run.peaks, chart);
  return chart;
}

Table points_table(const Run& run) {
  const std::string by = run.kernels ? measured_by(*run.kernels) : std::string();
  Table table{"Launches measured by " + (by.empty() ? "ncu" : by),
              numbers({"#"}, kWide) + texts({"Kernel", "Stage"}) + numbers({"FLOP/B", "Achieved", "Roof", "of roof"}) +
                  texts({"Precision", "Bound by"}) + numbers({"Margin"}) + numbers({"Time"}, kWide)};
  table.sortable = true;
  const auto& points = run.roofline.points;
  const std::size_t shown = std::min(kListedPoints, points.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const RooflinePoint& point = points[i];
    table.rows.push_back({count_cell(i + 1),
                          Text(point.kernel, Inline::kShortName),
                          text_cell(stage_title(run, point.stage.value_or(""))),
                          figure_cell(point.intensity),
                          {flops_rate_text(point.flops_per_s), point.flops_per_s},
                          {flops_rate_text(point.roof_flops_per_s), point.roof_flops_per_s},
                          share_cell(point.roof_share),
                          text_cell(point.precision),
                          bound_cell(point.bound_by, point.bound_memory),
                          {point.margin ? fmt::format("{:.0f} points", *point.margin) : kNoValue, point.margin},
                          time_cell(static_cast<double>(point.duration_ns))});
    table.rows.back().id = roofline_id(i);
  }
  const auto rest = [&](std::size_t listed) { return plural(points.size() - listed, "more launch", "more launches") + " in run.json."; };
  table.text_rows = kTextPoints;
  if (points.size() > kTextPoints) table.text_note = rest(kTextPoints);
  if (points.size() > shown) table.foot.push_back({"", rest(shown)});
  return table;
}

}  // namespace

Section efficiency(const Run& run) {
  Section out{"efficiency", "Limits", "How close to the hardware's limits", {peaks_line(run)}};
  if (run.peaks) add(out.blocks, notes(run.peaks->notes));
  if (run.efficiency.empty()) {
    add(out.blocks,
        missing("MFU and MBU are not computed: the model's shape is not known. Name it with --model: a file of conf/model, or a "
                "Hugging Face config.json."));
  } else {
    out.blocks.emplace_back(Figure(utilisation_bars(run)));
    out.blocks.emplace_back(caption("Share of the peak over the wall time; a full bar is the hardware's limit."));
    out.blocks.emplace_back(
        Paragraph{"MFU and MBU are shares of the peak over the wall time; “GPU busy”: over the time in which kernels run."});
    out.blocks.emplace_back(utilisation_table(run));
    add(out.blocks, notes(efficiency_notes(run, false)));
    for (const auto& entry : run.efficiency)
      if (!entry.terms.empty()) out.blocks.emplace_back(work_terms(run, entry));
  }
  for (auto& block : roofline(run)) out.blocks.push_back(std::move(block));
  return out;
}

Blocks roofline(const Run& run) {
  const RooflineChart chart = roofline_chart(run);
  const bool drawn =
      std::any_of(chart.points.begin(), chart.points.end(), [](const auto& p) { return p.intensity > 0 && p.flops_per_s > 0; });
  if (!drawn && run.roofline.points.empty() && run.roofline.notes.empty()) return {};
  Blocks out = {Heading{"Roofline", "roofline"}, Figure(chart)};
  add(out, points_table(run));
  add(out, notes(run.roofline.notes));
  return out;
}

}  // namespace nl::exporters::report
