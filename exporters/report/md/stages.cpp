#include <fmt/core.h>

#include <algorithm>

#include "exporters/report/budget_bins.h"
#include "exporters/report/figure_text.h"
#include "exporters/report/markdown.h"
#include "exporters/report/md/sections.h"
#include "model/notes.h"

namespace nl::exporters::report_md {
namespace {

std::string captured_time(const std::optional<Ns>& ns) {
  return ns ? time_text(static_cast<double>(*ns)) : kNotCaptured;
}
std::string captured_share(const std::optional<double>& share) { return share ? share_text(share) : kNotCaptured; }

std::string stage_notes(const StageEntry& stage) {
  std::vector<std::string> notes;
  for (const auto& range : stage.ranges) notes.push_back(markdown_text(range));
  std::string text = join(notes);
  if (stage.derived) text += (text.empty() ? "" : ", ") + std::string("the span of its steps");
  if (stage.open_ranges > 0) text += fmt::format(" ({} never closed)", stage.open_ranges);
  return text;
}

std::vector<std::string> wall_row(const StageEntry& stage) {
  const bool any = stage.wall.count > 0;
  const auto wall = [&](double ns) { return any ? time_text(ns) : std::string(kNoValue); };
  return {markdown_text(stage.name),
          std::to_string(stage.wall.count),
          wall(stage.wall.mean_ns),
          stddev_text(stage.wall),
          wall(stage.wall.median_ns),
          wall(static_cast<double>(stage.wall.p99_ns)),
          wall(static_cast<double>(stage.wall.total_ns)),
          stage.warmup_windows > 0 ? std::to_string(stage.warmup_windows) : kNoValue,
          stage_notes(stage)};
}

// Work that a range launched may run on after its end, so that more than 100 % is possible.
std::vector<std::string> gpu_row(const StageEntry& stage) {
  const bool comparable =
      stage.gpu_busy_ns && stage.wall.count > 0 && stage.wall.total_ns > 0 && stage.open_ranges == 0;
  const std::string share = comparable ? fmt::format("{:.1f} %", 100.0 * static_cast<double>(*stage.gpu_busy_ns) /
                                                                     static_cast<double>(stage.wall.total_ns))
                                       : kNoValue;
  return {markdown_text(stage.name),
          captured_time(stage.gpu_busy_ns),
          share,
          captured_time(stage.gpu_sum_ns),
          stage.kernel_calls ? std::to_string(*stage.kernel_calls) : kNotCaptured,
          tokens_text(stage.tokens_per_window),
          figure_text(stage.tokens_per_s)};
}

std::string latency(const Run& run) {
  MarkdownTable table({{"", false}, {"mean", true}, {"std", true}, {"p50", true}, {"p99", true}, {"n", true}});
  const auto row = [&](const char* what, const std::optional<TimeSummary>& time) {
    if (!time)
      table.add({what, "not known", kNoValue, kNoValue, kNoValue, kNoValue});
    else
      table.add({what, time_text(time->mean_ns), stddev_text(*time), time_text(time->median_ns),
                 time_text(static_cast<double>(time->p99_ns)), std::to_string(time->count)});
  };
  row("time to first token", run.latency.ttft);
  row("time per output token", run.latency.tpot);
  std::string text = "\n" + table.text();
  if (run.latency.output_tokens_per_s)
    text += fmt::format("\nOutput tokens per second: {}.\n", figure_text(run.latency.output_tokens_per_s));
  if (!run.latency.notes.empty()) text += "\n";
  for (const auto& note : run.latency.notes) text += fmt::format("- {}\n", markdown_text(note));
  return text;
}

std::string warmup(const Iterations& iterations) {
  if (iterations.count == 0 && iterations.rule.empty()) return {};
  return fmt::format("\n{} iterations, of which {} warm-up, left out of every figure here. Rule: {}.\n",
                     iterations.count, iterations.warmup,
                     iterations.rule.empty() ? "none" : markdown_text(iterations.rule));
}

// One column of milliseconds and one of percent for each budget.
struct BudgetColumn {
  std::string title;
  Budget budget;
};

std::string budget_table(const std::vector<BudgetColumn>& columns) {
  std::vector<MarkdownTable::Column> titles = {{"ms", false}};
  for (const auto& column : columns) {
    titles.push_back({markdown_text(column.title), true});
    titles.push_back({"%", true});
  }
  MarkdownTable table(std::move(titles));
  const auto row = [&](const std::string& label, const auto& time_of) {
    std::vector<std::string> cells = {label};
    for (const auto& column : columns) {
      const double ns = static_cast<double>(time_of(column.budget)), wall = static_cast<double>(column.budget.wall_ns);
      cells.push_back(fmt::format("{:.6f}", ns / 1e6));
      cells.push_back(wall > 0 ? fmt::format("{:.2f}", 100 * ns / wall) : kNoValue);
    }
    table.add(std::move(cells));
  };
  for (const auto& bin : kBudgetBins) row(bin.label, [&](const Budget& budget) { return budget.*bin.time; });
  row("**sum**", [](const Budget& budget) { return budget.sum_ns(); });
  row("**wall**", [](const Budget& budget) { return budget.wall_ns; });
  return table.text();
}

std::string remarks(const Run& run) {
  std::string text;
  for (const auto& stage : run.stages)
    for (const auto& remark : stage_remarks(stage)) text += fmt::format("\n{}\n", markdown_text(remark));
  return text;
}

std::string legend() {
  std::string text = "\n";
  for (const auto& bin : kBudgetBins) text += fmt::format("- {}: {}\n", bin.label, bin.meaning);
  return text;
}

}  // namespace

std::string stages(const Run& run) {
  std::string text = "\n## Stages\n\n";
  if (run.stages.empty())
    return text +
           "No ranges of the domain LLM (prefill, decode_all, decode_step …) were captured: mark the workload's phases "
           "with NVTX.\n";
  MarkdownTable wall({{"stage", false},
                      {"n", true},
                      {"mean", true},
                      {"std", true},
                      {"p50", true},
                      {"p99", true},
                      {"sum", true},
                      {"warm-up", true},
                      {"ranges", false}});
  MarkdownTable gpu({{"stage", false},
                     {"GPU busy", true},
                     {"of wall", true},
                     {"GPU sum", true},
                     {"kernels", true},
                     {"tokens a window", true},
                     {"tokens/s", true}});
  for (const auto& stage : run.stages) {
    wall.add(wall_row(stage));
    gpu.add(gpu_row(stage));
  }
  return text + wall.text() + warmup(run.iterations) +
         "\nGPU busy is the union of what a stage launched, the sum counts overlaps twice.\n\n" + gpu.text() +
         latency(run) + counters(run);
}

std::string budgets(const Run& run) {
  if (run.stages.empty()) return {};
  std::vector<BudgetColumn> columns;
  for (const auto& stage : run.stages)
    if (stage.budget) columns.push_back({stage.name, *stage.budget});
  std::string text = "\n## Where the time went\n\n";
  if (columns.empty()) return text + "Not captured: without GPU data the time of a stage cannot be divided.\n";
  text += "Each nanosecond of a stage's measured windows stands in one row.\n\n";
  constexpr std::size_t kAcross = 3;  // more would not fit a page
  for (std::size_t i = 0; i < columns.size(); i += kAcross)
    text += (i == 0 ? "" : "\n") +
            budget_table({columns.begin() + static_cast<std::ptrdiff_t>(i),
                          columns.begin() + static_cast<std::ptrdiff_t>(std::min(i + kAcross, columns.size()))});
  return text + remarks(run) + legend();
}

std::string phases(const Run& run) {
  if (run.phases.phases.empty()) return {};
  MarkdownTable table({{"phase", false},
                       {"wall", true},
                       {"of the span", true},
                       {"GPU computes", true},
                       {"GPU waits for launches", true}});
  for (const auto& phase : run.phases.phases) {
    const auto share = [&](Ns time_ns, Ns of_ns) {
      return of_ns > 0 ? share_text(static_cast<double>(time_ns) / static_cast<double>(of_ns)) : kNoValue;
    };
    table.add({markdown_text(phase.name), time_text(static_cast<double>(phase.wall_ns)),
               share(phase.wall_ns, run.phases.span_ns),
               phase.budget ? share(phase.budget->gpu_compute_ns, phase.budget->wall_ns) : kNotCaptured,
               phase.budget ? share(phase.budget->launch_starved_ns, phase.budget->wall_ns) : kNotCaptured});
  }
  return fmt::format("\n## Phases\n\nFrom the first stage to the last, {}: each instant in one phase.\n\n",
                     time_text(static_cast<double>(run.phases.span_ns))) +
         table.text();
}

std::string coverage(const Run& run) {
  MarkdownTable table({{"", false}, {"", true}});
  table.add({"GPU busy, whole capture", captured_time(run.coverage.gpu_busy_ns)});
  table.add({"kernel time, summed", captured_time(run.coverage.kernel_sum_ns)});
  table.add({"of it inside a stage", captured_share(run.coverage.in_stage_share)});
  table.add({"of it without a launching call in the capture", captured_share(run.coverage.unlinked_share)});
  table.add({"GPU time in graphs traced without their kernels", captured_share(run.coverage.graph_only_share)});
  table.add({"GPU time outside every stage's windows", captured_share(run.phases.gpu_without_range_share)});
  table.add({"stage time in which the GPU did nothing", captured_share(run.phases.ranges_without_gpu_share)});
  std::string text = "\n## What the capture explains\n\n" + table.text();
  if (run.coverage.graph_only_share.value_or(0) > 0)
    text += fmt::format("\nCapture with graph nodes ({}) to see the kernels inside the graphs.\n", kTraceNodes);
  return text;
}

}  // namespace nl::exporters::report_md
