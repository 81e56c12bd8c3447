#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "exporters/report/compare/compare.h"
#include "exporters/report/html/html.h"
#include "exporters/report/text/figure_text.h"
#include "exporters/report/text/markdown.h"
#include "model/comparison.h"

namespace nl::exporters {
namespace report {
namespace {

constexpr double kSmallestDrawn = 0.01;  // of the largest step
constexpr std::size_t kMostDrawn = 12;

std::string signed_time(Ns ns) { return (ns < 0 ? "−" : "+") + time_text(static_cast<double>(std::abs(ns))); }

Text row_text(const WaterfallRow& row) {
  switch (row.part) {
    case WaterfallPart::kKernels: return Text(row.key, Inline::kName);
    case WaterfallPart::kOtherKernels: return "other kernels";
    case WaterfallPart::kBin: return bin_label(row.key);
  }
  return {};
}

std::string row_label(const WaterfallRow& row) {
  return row.part == WaterfallPart::kKernels ? function_name(row.key)
         : row.part == WaterfallPart::kBin   ? bin_label(row.key)
                                             : "other kernels";
}

Bar whole_bar(const char* name, Ns ns, double whole) {
  const auto value = static_cast<double>(ns);
  return {name, "", {{value, "w-side", time_text(value)}}, whole, time_text(value), fmt::format("{}: {}", name, time_text(value))};
}

struct ChartStep {
  std::string name;
  Ns change_ns = 0;
};

// The largest first, what is too small to see together: the table below has every row.
std::vector<ChartStep> chart_steps(const Waterfall& waterfall) {
  std::vector<ChartStep> all;
  for (const WaterfallRow& row : waterfall.rows) all.push_back({row_label(row), row.b_ns - row.a_ns});
  std::stable_sort(all.begin(), all.end(),
                   [](const ChartStep& x, const ChartStep& y) { return std::abs(x.change_ns) > std::abs(y.change_ns); });
  const double least = all.empty() ? 0 : kSmallestDrawn * static_cast<double>(std::abs(all[0].change_ns));
  std::vector<ChartStep> steps;
  ChartStep rest{"everything else"};
  for (ChartStep& step : all) {
    if (steps.size() < kMostDrawn && static_cast<double>(std::abs(step.change_ns)) >= least && step.change_ns != 0)
      steps.push_back(std::move(step));
    else rest.change_ns += step.change_ns;
  }
  if (rest.change_ns != 0) steps.push_back(std::move(rest));
  return steps;
}

// From A's window to B's: each bar begins where the last one ended.
BarChart waterfall_chart(const Waterfall& waterfall) {
  const std::vector<ChartStep> steps = chart_steps(waterfall);
  double whole = static_cast<double>(waterfall.a_ns);
  Ns at = waterfall.a_ns;
  for (const ChartStep& step : steps) whole = std::max(whole, static_cast<double>(at += step.change_ns));
  BarChart chart;
  chart.bars.push_back(whole_bar("A", waterfall.a_ns, whole));
  at = waterfall.a_ns;
  for (const ChartStep& step : steps) {
    const std::string figure = signed_time(step.change_ns);
    const auto before = static_cast<double>(std::max<Ns>(std::min(at, at + step.change_ns), 0));
    chart.bars.push_back(
        {step.name,
         "",
         {{before, "w-gap"},
          {static_cast<double>(std::abs(step.change_ns)), step.change_ns > 0 ? "w-more" : "w-less", step.name + ": " + figure}},
         whole,
         figure,
         step.name + ": " + figure});
    at += step.change_ns;
  }
  chart.bars.push_back(whole_bar("B", waterfall.b_ns, whole));
  return chart;
}

Table waterfall_table(const Waterfall& waterfall) {
  Table table{"Waterfall", {{"Part of a window"}, {"Relation"}, {"A", kRight}, {"B", kRight}, {"B less A", kRight}}};
  const auto row = [](Text what, std::string relation, Ns a, Ns b) {
    return Row{Cell(std::move(what)), std::move(relation), Cell(time_text(static_cast<double>(a)), static_cast<double>(a)),
               Cell(time_text(static_cast<double>(b)), static_cast<double>(b)), Cell(signed_time(b - a), static_cast<double>(b - a))};
  };
  for (const WaterfallRow& each : waterfall.rows)
    table.rows.push_back(
        row(row_text(each), each.part == WaterfallPart::kKernels ? std::string(key_of(each.relation)) : kNoValue, each.a_ns, each.b_ns));
  table.foot.push_back(row("Window", kNoValue, waterfall.a_ns, waterfall.b_ns));
  return table;
}

Section waterfall_section(const Comparison& comparison) {
  Section out{"waterfall", "Waterfall", "From A to B"};
  if (!comparison.waterfall) {
    out.blocks = {Paragraph{"No budget was captured on both sides, so the difference has no parts.", Role::kMissing}};
    return out;
  }
  const Waterfall& waterfall = *comparison.waterfall;
  out.title = fmt::format("From A's to B's {}", waterfall.stage);
  out.blocks = {Paragraph{"Means of one window, because the parts of medians would not add up. The rows add up to the window exactly."},
                Figure{waterfall_chart(waterfall)}, waterfall_table(waterfall)};
  return out;
}

std::string side_fact(const char* letter, const CompareSide& side) {
  if (side.runs.empty()) return fmt::format("{}: no run", letter);
  const ComparedRun& first = side.runs[0];
  const std::string name = first.run_id.empty() ? first.name : first.run_id;
  return fmt::format("{}: {}", letter, side.runs.size() == 1 ? name : fmt::format("{} runs, {} …", side.runs.size(), name));
}

std::string used_text(const ComparedRun& run) {
  if (run.left_out) return "no: its GPU was throttled";
  return run.given > 1 ? fmt::format("once: given {} times", run.given) : "yes";
}

Section sides_section(const Comparison& comparison) {
  Section out{"runs", "Runs", "The runs"};
  Table table{"Runs", {{"Side"}, {"Run"}, {"Name"}, {"Captured at"}, {"Order", kRight}, {"Used"}}};
  const auto add_side = [&](const char* letter, const CompareSide& side) {
    for (const ComparedRun& run : side.runs)
      table.rows.push_back({letter, run.run_id, run.name, run.captured_at.empty() ? std::string(kNoValue) : run.captured_at,
                            run.place > 0 ? std::to_string(run.place) : std::string(kNoValue), used_text(run)});
  };
  add_side("A", comparison.a);
  add_side("B", comparison.b);
  out.blocks = {std::move(table)};
  return out;
}

Document comparison_document(const Comparison& comparison, const std::vector<std::string>& remarks = {}) {
  const bool refused = comparison.comparability.refused && !comparison.comparability.forced;
  Document out{"Comparison",
               refused ? "refused" : std::string(key_of(comparison.verdict)),
               {side_fact("A", comparison.a), side_fact("B", comparison.b)}};
  out.sections.push_back({"summary", "Summary", "In short", {Paragraph{join(comparison_sentences(comparison), " "), Role::kLead}}});
  if (!remarks.empty()) out.sections.back().blocks.push_back(Paragraph{join(remarks, " ")});
  if (!refused) out.sections.push_back(waterfall_section(comparison));
  out.sections.push_back(comparability_section(comparison));
  if (!refused)
    for (Section& section : line_sections(comparison)) out.sections.push_back(std::move(section));
  out.sections.push_back(sides_section(comparison));
  out.full_names = true;
  return out;
}

}  // namespace

}  // namespace report

std::string comparison_markdown(const Comparison& comparison, const std::vector<std::string>& remarks) {
  return markdown(report::comparison_document(comparison, remarks));
}

std::string comparison_text(const Comparison& comparison, std::size_t width) {
  return terminal_text(report::comparison_document(comparison), width);
}

std::string comparison_html(const Comparison& comparison, const std::string& nl_stage_version, const std::vector<std::string>& remarks) {
  return html::page(report::comparison_document(comparison, remarks),
                    "nl-stage " + nl_stage_version + " · compare.json has every figure of this page");
}

}  // namespace nl::exporters
