#include <fmt/core.h>

#include <algorithm>

#include "exporters/report/budget_bins.h"
#include "exporters/report/figure_text.h"
#include "exporters/report/html/html_table.h"
#include "exporters/report/html/html_text.h"
#include "exporters/report/html/sections.h"
#include "exporters/report/html/svg_bars.h"

namespace nl::exporters::html {
namespace {

std::string summary_tip(const std::string& name, const TimeSummary& time) {
  return fmt::format("{}: mean {:.0f} ns, std {}, p50 {:.0f} ns, p99 {} ns, min {} ns, max {} ns, n = {}", name,
                     time.mean_ns, time.count > 1 ? fmt::format("{:.0f} ns", time.stddev_ns) : kNoValue, time.median_ns,
                     time.p99_ns, time.min_ns, time.max_ns, time.count);
}

std::string bars(const Run& run) {
  double whole = 0;
  for (const auto& stage : run.stages)
    whole = std::max(whole, static_cast<double>(std::max(stage.wall.p99_ns, stage.wall.max_ns)));
  std::string out = "<div class=\"chart\">\n";
  for (const auto& stage : run.stages) {
    if (stage.wall.count == 0) continue;
    const std::string tip = summary_tip(stage.name, stage.wall);
    out += bar_row(text(stage.name),
                   whisker_bar(tip, stage.wall.mean_ns, stage.wall.median_ns, static_cast<double>(stage.wall.p99_ns),
                               whole, stage_colour(run, stage.name), tip),
                   text(mean_text(stage.wall)));
  }
  return out +
         "</div>\n<p class=\"muted small\">Mean wall time of a window; the tick is the median, the line ends at "
         "p99.</p>\n";
}

std::optional<double> busy_share(const StageEntry& stage) {
  if (!stage.gpu_busy_ns || stage.wall.total_ns <= 0 || stage.open_ranges > 0) return std::nullopt;
  return static_cast<double>(*stage.gpu_busy_ns) / static_cast<double>(stage.wall.total_ns);
}

std::string stage_table(const Run& run) {
  Table table("Stages", {{"Stage"},
                         {"n", true},
                         {"Mean", true},
                         {"Std", true},
                         {"p50", true},
                         {"p99", true},
                         {"Sum", true},
                         {"GPU busy", true},
                         {"of wall", true},
                         {"GPU sum", true},
                         {"Kernels", true},
                         {"Tokens/s", true},
                         {"Warm-up", true},
                         {"Ranges"}});
  for (const auto& stage : run.stages) {
    const TimeSummary& wall = stage.wall;
    const bool any = wall.count > 0;
    const auto time = [&](bool known, double ns) { return known ? time_cell(ns) : text_cell(""); };
    std::string ranges = join(stage.ranges);
    if (stage.derived) ranges += (ranges.empty() ? "" : ", ") + std::string("the span of its steps");
    if (stage.open_ranges > 0) ranges += fmt::format(" ({} never closed)", stage.open_ranges);
    table.add({text_cell(stage.name), count_cell(wall.count), time(any, wall.mean_ns),
               time(wall.count > 1, wall.stddev_ns), time(any, wall.median_ns),
               time(any, static_cast<double>(wall.p99_ns)), time(any, static_cast<double>(wall.total_ns)),
               time_cell(stage.gpu_busy_ns), share_cell(busy_share(stage)), time_cell(stage.gpu_sum_ns),
               stage.kernel_calls ? count_cell(*stage.kernel_calls) : text_cell(""), figure_cell(stage.tokens_per_s),
               stage.warmup_windows > 0 ? count_cell(stage.warmup_windows) : text_cell(""), text_cell(ranges)});
  }
  return table.markup();
}

std::string budget_table(const Run& run) {
  std::vector<Table::Column> columns = {{"Bin, ms"}};
  std::vector<const StageEntry*> with;
  for (const auto& stage : run.stages)
    if (stage.budget) with.push_back(&stage);
  for (const auto* stage : with) {
    columns.push_back({stage->name, true});
    columns.push_back({"%", true});
  }
  Table table("Budget of each stage", columns);
  const auto row = [&](const std::string& label, const auto& time_of) {
    std::vector<Cell> cells = {Cell(label)};
    for (const auto* stage : with) {
      const Ns ns = time_of(*stage->budget);
      cells.emplace_back(fmt::format("{:.6f}", static_cast<double>(ns) / 1e6), std::nullopt, fmt::format("{} ns", ns));
      cells.emplace_back(
          stage->budget->wall_ns > 0
              ? fmt::format("{:.2f}", 100.0 * static_cast<double>(ns) / static_cast<double>(stage->budget->wall_ns))
              : kNoValue);
    }
    return cells;
  };
  for (const auto& bin : kBudgetBins)
    table.add(row(fmt::format("<span class=\"key b-{}\"></span>{}", bin.key, text(bin.label)),
                  [&](const Budget& budget) { return budget.*bin.time; }));
  table.foot(row("Sum", [](const Budget& budget) { return budget.sum_ns(); }));
  table.foot(row("Wall", [](const Budget& budget) { return budget.wall_ns; }));
  return table.markup();
}

std::string remarks(const Run& run) {
  std::vector<std::string> all;
  for (const auto& stage : run.stages)
    for (auto& remark : stage_remarks(stage)) all.push_back(std::move(remark));
  return bullets(all);
}

std::string phases(const Run& run) {
  if (run.phases.phases.empty()) return {};
  const double span = static_cast<double>(run.phases.span_ns);
  std::vector<Segment> segments;
  std::string legend = "<ul class=\"legend\">", label = "Phases";
  for (const auto& phase : run.phases.phases) {
    const double wall = static_cast<double>(phase.wall_ns);
    const std::string share = span > 0 ? share_text(wall / span) : kNoValue;
    const std::string colour = phase.name == "idle"    ? "s-idle"
                               : phase.name == "mixed" ? "s-mixed"
                                                       : stage_colour(run, phase.name);
    segments.push_back(
        {wall, colour, fmt::format("{}: {} ({} ns), {}", phase.name, time_text(wall), phase.wall_ns, share), share});
    legend += fmt::format("<li><span class=\"key {}\"></span><b>{}</b> {}, {}</li>", colour, text(phase.name),
                          time_text(wall), text(share));
    label += fmt::format(", {} {}", phase.name, share);
  }
  return "<h3>Phases</h3>" +
         paragraph(fmt::format("From the first stage to the last, {}: each instant in one phase.", time_text(span))) +
         "<div class=\"chart\">" + stacked_bar(label, segments, span) + "</div>" + legend + "</ul>\n";
}

std::string coverage(const Run& run) {
  Table table("What the capture explains", {{"What the capture explains"}, {"", true}});
  const auto share = [&](const char* what, const std::optional<double>& value) {
    table.add({{what}, value ? share_cell(value) : Cell(kNotCaptured)});
  };
  const auto time = [&](const char* what, const std::optional<Ns>& value) {
    table.add({{what}, value ? time_cell(value) : Cell(kNotCaptured)});
  };
  time("GPU busy, whole capture", run.coverage.gpu_busy_ns);
  time("Kernel time, summed", run.coverage.kernel_sum_ns);
  share("of it inside a stage", run.coverage.in_stage_share);
  share("of it without a launching call in the capture", run.coverage.unlinked_share);
  share("GPU time in graphs traced without their kernels", run.coverage.graph_only_share);
  share("GPU time outside every stage's windows", run.phases.gpu_without_range_share);
  share("Stage time in which the GPU did nothing", run.phases.ranges_without_gpu_share);
  return table.markup();
}

}  // namespace

std::string stage_colour(const Run& run, const std::string& stage) {
  const auto found =
      std::find_if(run.stages.begin(), run.stages.end(), [&](const StageEntry& entry) { return entry.name == stage; });
  return fmt::format("s-{}", (found - run.stages.begin()) % 6);
}

std::string stages(const Run& run) {
  if (run.stages.empty())
    return section("stages", "Stages",
                   missing("No ranges of the domain LLM (prefill, decode_all, decode_step …) were captured: mark the "
                           "workload's phases with NVTX."));
  return section("stages", "Stages", bars(run) + stage_table(run) + bullets(run.latency.notes) + counters(run) + iterations(run));
}

std::string budgets(const Run& run) {
  const bool any = std::any_of(run.stages.begin(), run.stages.end(),
                               [](const StageEntry& stage) { return stage.budget.has_value(); });
  if (!any)
    return section(
        "budget", "Where the time went",
        missing(run.stages.empty() ? "There is no stage whose time could be divided."
                                   : "Not captured: without GPU data the time of a stage cannot be divided.") +
            phases(run) + coverage(run));
  std::string chart = "<div class=\"chart\">\n";
  for (const auto& stage : run.stages)
    if (stage.budget)
      chart += bar_row(text(stage.name), budget_bar(stage.name, *stage.budget),
                       time_text(static_cast<double>(stage.budget->wall_ns)));
  return section("budget", "Where the time went",
                 paragraph("Each nanosecond of a stage's measured windows is in one bin.") + chart + "</div>\n" +
                     budget_legend() + budget_table(run) + remarks(run) + phases(run) + coverage(run));
}

}  // namespace nl::exporters::html
