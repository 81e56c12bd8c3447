#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "exporters/report/compare/compare.h"
#include "exporters/report/html/html.h"
#include "exporters/report/text/budget_bins.h"
#include "exporters/report/text/figure_text.h"
#include "exporters/report/text/markdown.h"
#include "exporters/report/text/run_text.h"
#include "exporters/report/text/step_strip.h"
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

constexpr std::size_t kLongLabel = 48;

// What it does, as in the table below; a name that is still long would fill a column of its own.
std::string kernel_label(const std::string& kernel) {
  const std::string name = readable_kernel_name(kernel);
  return name.size() <= kLongLabel ? name : cut(name, kLongLabel) + "…";
}

std::string row_label(const WaterfallRow& row) {
  return row.part == WaterfallPart::kKernels ? kernel_label(row.key)
         : row.part == WaterfallPart::kBin   ? bin_label(row.key)
                                             : "other kernels";
}

// From where to where the chart is drawn.
struct ChartAxis {
  Ns begin = 0, end = 0;
  double length() const { return static_cast<double>(end - begin); }
};

Bar whole_bar(const char* name, Ns ns, const ChartAxis& axis) {
  const std::string figure = time_text(static_cast<double>(ns));
  return {name, "", {{static_cast<double>(ns - axis.begin), "w-side", figure}}, axis.length(), figure, fmt::format("{}: {}", name, figure)};
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

// From zero; where no level is below half of the highest one, from a round figure below the lowest: small changes would be slivers.
ChartAxis chart_axis(const Waterfall& waterfall, const std::vector<ChartStep>& steps) {
  constexpr double kRoomBelow = 0.25;  // of what the levels span
  Ns at = waterfall.a_ns, lowest = at, highest = at;
  for (const ChartStep& step : steps) {
    at += step.change_ns;
    lowest = std::min(lowest, at);
    highest = std::max(highest, at);
  }
  if (lowest == highest || 2 * lowest <= highest) return {0, highest};
  const auto span = static_cast<double>(highest - lowest);
  const double round = std::pow(10.0, std::floor(std::log10(span)));
  const double begin = std::floor((static_cast<double>(lowest) - kRoomBelow * span) / round) * round;
  return {static_cast<Ns>(std::max(begin, 0.0)), highest};
}

// From A's window to B's: each bar begins where the last one ended.
BarChart waterfall_chart(const Waterfall& waterfall, const std::vector<ChartStep>& steps, const ChartAxis& axis) {
  BarChart chart;
  chart.bars.push_back(whole_bar("A", waterfall.a_ns, axis));
  Ns at = waterfall.a_ns;
  for (const ChartStep& step : steps) {
    const std::string figure = signed_time(step.change_ns);
    const auto before = static_cast<double>(std::max<Ns>(std::min(at, at + step.change_ns) - axis.begin, 0));
    chart.bars.push_back(
        {step.name,
         "",
         {{before, "w-gap"},
          {static_cast<double>(std::abs(step.change_ns)), step.change_ns > 0 ? "w-more" : "w-less", step.name + ": " + figure}},
         axis.length(),
         figure,
         step.name + ": " + figure});
    at += step.change_ns;
  }
  chart.bars.push_back(whole_bar("B", waterfall.b_ns, axis));
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
  const std::vector<ChartStep> steps = chart_steps(waterfall);
  const ChartAxis axis = chart_axis(waterfall, steps);
  out.title = fmt::format("From A's to B's {}", waterfall.stage);
  out.blocks = {Paragraph{"Means of one window, because the parts of medians would not add up. The rows add up to the window exactly."},
                Figure{waterfall_chart(waterfall, steps, axis)}};
  if (axis.begin > 0) out.blocks.emplace_back(caption(fmt::format("The axis begins at {}.", time_text(static_cast<double>(axis.begin)))));
  out.blocks.emplace_back(waterfall_table(waterfall));
  return out;
}

// "llama (20261118-1200-llama)"
std::string run_text(const ComparedRun& run) {
  if (run.name.empty() || run.run_id.empty()) return run.name.empty() ? run.run_id : run.name;
  return fmt::format("{} ({})", run.name, run.run_id);
}

std::string side_fact(const char* letter, const CompareSide& side) {
  if (side.runs.empty()) return fmt::format("{}: no run", letter);
  const std::string name = run_text(side.runs[0]);
  return fmt::format("{}: {}", letter, side.runs.size() == 1 ? name : fmt::format("{} runs, {} …", side.runs.size(), name));
}

std::string document_title(const Comparison& comparison) {
  if (comparison.a.runs.empty() || comparison.b.runs.empty()) return "Comparison";
  const std::string a = comparison.a.runs[0].name, b = comparison.b.runs[0].name;
  return a.empty() || b.empty() ? "Comparison" : fmt::format("Comparison: {} against {}", a, b);
}

struct BinChange {
  const char* label;
  Ns change_ns = 0;
};

// "launch-starved −2.300 ms, GPU compute +0.400 ms": the largest first.
std::string bin_changes(const Budget& a, const Budget& b) {
  constexpr double kWorthNaming = 0.01;  // of the longer step
  std::vector<BinChange> changes;
  for (const BudgetBin& bin : kBudgetBins) changes.push_back({bin.label, b.*bin.time - a.*bin.time});
  std::stable_sort(changes.begin(), changes.end(),
                   [](const auto& x, const auto& y) { return std::abs(x.change_ns) > std::abs(y.change_ns); });
  std::vector<std::string> parts;
  for (const BinChange& each : changes)
    if (static_cast<double>(std::abs(each.change_ns)) >= kWorthNaming * static_cast<double>(std::max(a.wall_ns, b.wall_ns)))
      parts.push_back(fmt::format("{} {}", each.label, signed_time(each.change_ns)));
  return parts.empty() ? "no bin by 1 % of the step" : join(parts);
}

std::string step_sentence(const MedianStep& a, const MedianStep& b) {
  const std::string text = fmt::format("B's median {} takes {}, A's {}: {}.", b.stage, time_text(static_cast<double>(b.wall_ns)),
                                       time_text(static_cast<double>(a.wall_ns)), signed_time(b.wall_ns - a.wall_ns));
  return a.budget && b.budget ? text + fmt::format(" By bin: {}.", bin_changes(*a.budget, *b.budget)) : text;
}

// Both steps from their begin, on one scale. Nothing where neither side has one.
Section steps_section(const Comparison& comparison) {
  Section out{"steps", "Median steps", "The median steps"};
  const std::optional<MedianStep>&a = comparison.a.median_step, &b = comparison.b.median_step;
  if (!a && !b) return out;
  if (!a || !b) {
    out.blocks = {
        missing(fmt::format("{} has no median step to draw beside the other's: its run.json is older than format 3.8, or no stage was "
                            "found in it. `nl-stage import` of its capture tells.",
                            a ? "B" : "A"))};
    return out;
  }
  StripChart chart;
  for (const auto& [title, step] : {std::pair("A", &*a), std::pair("B", &*b)}) add_step(chart, title, *step);
  std::vector<const Budget*> budgets;
  for (const MedianStep* step : {&*a, &*b})
    if (step->budget) budgets.push_back(&*step->budget);
  if (a->stage == b->stage) out.blocks.emplace_back(Paragraph{step_sentence(*a, *b)});
  else out.blocks.emplace_back(Paragraph{fmt::format("A's unit is {}, B's is {}: the two are different things.", a->stage, b->stage)});
  out.blocks.emplace_back(Figure(std::move(chart)));
  if (!budgets.empty()) out.blocks.emplace_back(budget_legend(budgets));
  if (!a->host.empty() || !b->host.empty()) out.blocks.emplace_back(host_legend());
  out.blocks.emplace_back(caption("One step of each side, of median length, as captured. What is tested stands in the sections below."));
  return out;
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

Document comparison_document(const Comparison& comparison, const ComparisonNotes& notes = {}) {
  const bool refused = comparison.comparability.refused && !comparison.comparability.forced;
  Document out{document_title(comparison),
               refused ? "refused" : std::string(key_of(comparison.verdict)),
               {side_fact("A", comparison.a), side_fact("B", comparison.b)}};
  out.sections.push_back(
      {"summary", "Summary", "In short", {Paragraph{join(comparison_sentences(comparison, notes.more_runs), " "), Role::kLead}}});
  if (!notes.remarks.empty()) out.sections.back().blocks.push_back(Paragraph{join(notes.remarks, " ")});
  if (!refused) out.sections.insert(out.sections.end(), {steps_section(comparison), waterfall_section(comparison)});
  out.sections.push_back(comparability_section(comparison));
  if (!refused)
    for (Section& section : line_sections(comparison)) out.sections.push_back(std::move(section));
  out.sections.push_back(sides_section(comparison));
  out.full_names = true;
  return out;
}

}  // namespace

}  // namespace report

std::string comparison_markdown(const Comparison& comparison, const ComparisonNotes& notes) {
  return markdown(with_empty_together(report::comparison_document(comparison, notes)));
}

std::string comparison_text(const Comparison& comparison, std::size_t width) {
  return terminal_text(report::comparison_document(comparison), width);
}

std::string comparison_html(const Comparison& comparison, const std::string& nl_stage_version, const ComparisonNotes& notes) {
  return html::page(report::comparison_document(comparison, notes),
                    "nl-stage " + nl_stage_version + " · compare.json has every figure of this page");
}

}  // namespace nl::exporters
