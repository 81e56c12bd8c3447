#include <fmt/core.h>

#include <algorithm>
#include <optional>

#include "exporters/report/sections/sections.h"
#include "exporters/report/text/budget_bins.h"
#include "exporters/report/text/links.h"
#include "exporters/report/text/run_text.h"
#include "model/words.h"

namespace nl::exporters::report {
namespace {

constexpr std::size_t kAcross = 3;  // budgets in one table; more would not fit a page

using Stages = std::vector<const StageEntry*>;

Stages with_budget(const Run& run) {
  Stages out;
  for (const auto& stage : run.stages)
    if (stage.budget) out.push_back(&stage);
  return out;
}

using Bins = std::vector<BudgetBin>;

// Most runs use one GPU, which has nothing to communicate with: the line is left out.
Bins bins_of(const Stages& stages) {
  Bins bins(kBudgetBins.begin(), kBudgetBins.end());
  const bool talks = std::any_of(stages.begin(), stages.end(), [](const StageEntry* stage) { return stage->budget->communication_ns > 0; });
  if (!talks) std::erase_if(bins, [](const BudgetBin& bin) { return bin.time == &Budget::communication_ns; });
  return bins;
}

Bar budget_bar(const Run& run, const StageEntry& stage, const Bins& bins) {
  const double wall = static_cast<double>(stage.budget->wall_ns);
  const std::string title = stage_title(run, stage.name);
  Bar bar{title, "", {}, wall, time_text(wall), fmt::format("{}: {}", title, time_text(wall)), 0, 0, budget_id(stage.name)};
  for (const auto& bin : bins) {
    const Ns ns = *stage.budget.*bin.time;
    const double share = ratio(static_cast<double>(ns), wall).value_or(0);
    bar.segments.push_back({static_cast<double>(ns), std::string("b-") + bin.key,
                            fmt::format("{}: {} ({} ns), {}", bin.label, time_text(static_cast<double>(ns)), ns, share_text(share)),
                            fmt::format("{:.0f} %", share * 100)});
    if (ns > 0) bar.spoken += fmt::format(", {} {}", bin.label, share_text(share));
  }
  return bar;
}

// One column of milliseconds and one of percent for each.
Table budget_table(const Run& run, const Stages& stages, const Bins& bins) {
  Table table{"Budget of each stage", {{"Bin, ms"}}};
  for (const auto* stage : stages) {
    table.columns.push_back({stage_title(run, stage->name), kRight});
    table.columns.push_back({"%", kRight});
  }
  const auto row = [&](const char* label, const auto& time_of) {
    Row cells = {label};
    for (const auto* stage : stages) {
      const Ns ns = time_of(*stage->budget);
      const auto share = ratio(static_cast<double>(ns), static_cast<double>(stage->budget->wall_ns));
      cells.emplace_back(exact_ms_text(static_cast<double>(ns)), std::nullopt, fmt::format("{} ns", ns));
      cells.back().brief = ms_text(static_cast<double>(ns));
      cells.emplace_back(share ? fmt::format("{:.2f}", *share * 100) : kNoValue);
    }
    return cells;
  };
  for (const auto& bin : bins) {
    table.rows.push_back(row(bin.label, [&](const Budget& budget) { return budget.*bin.time; }));
    table.rows.back()[0].colour = std::string("b-") + bin.key;
  }
  table.foot = {row("Sum", [](const Budget& budget) { return budget.sum_ns(); }),
                row("Wall", [](const Budget& budget) { return budget.wall_ns; })};
  return table;
}

Legend bins_legend(const Bins& bins) {
  Legend legend;
  for (const auto& bin : bins) legend.entries.push_back({std::string("b-") + bin.key, bin.label, bin.meaning});
  return legend;
}

// What a reader of the stages' figures should know besides: work of other windows.
List stage_notes(const Run& run) {
  std::vector<std::string> all;
  for (const auto& stage : run.stages) {
    if (stage.foreign_gpu_ns.value_or(0) > 0)
      all.push_back(fmt::format("{}: {} of the GPU time in its windows is work launched outside them.", stage_title(run, stage.name),
                                optional_time_text(stage.foreign_gpu_ns)));
  }
  return notes(all);
}

std::string phase_colour(const Run& run, const std::string& name) {
  const StageKind kind = stage_kind(name);
  return kind == StageKind::kIdle ? "s-idle" : kind == StageKind::kMixed ? "s-mixed" : stage_colour(run, name);
}

void add_phases(const Run& run, Blocks& blocks) {
  if (run.phases.phases.empty()) return;
  const double span = static_cast<double>(run.phases.span_ns);
  Bar bar{"", "", {}, span, "", "Phases", 0, 0};
  Table table{"Phases",
              {{"Phase"}, {"Wall", kRight}, {"of the span", kRight}, {"GPU computes", kRight}, {"GPU waits for launches", kRight}}};
  for (const auto& phase : run.phases.phases) {
    const double wall = static_cast<double>(phase.wall_ns);
    const std::string share = share_text(ratio(wall, span)), colour = phase_colour(run, phase.name), title = stage_title(run, phase.name);
    const auto of_phase = [&](Ns ns) {
      return phase.budget ? share_cell(ratio(static_cast<double>(ns), static_cast<double>(phase.budget->wall_ns))) : Cell(kNoValue);
    };
    const Budget budget = phase.budget.value_or(Budget{});
    bar.segments.push_back({wall, colour, fmt::format("{}: {} ({} ns), {}", title, time_text(wall), phase.wall_ns, share), share});
    bar.spoken += fmt::format(", {} {}", title, share);
    table.rows.push_back({text_cell(title), time_cell(wall), share_cell(ratio(wall, span)), of_phase(budget.gpu_compute_ns),
                          of_phase(budget.launch_wait_ns())});
    table.rows.back()[0].colour = colour;
  }
  blocks.emplace_back(Heading{"Phases", "phases"});
  blocks.emplace_back(Paragraph{fmt::format("From the first stage to the last, {}; each instant belongs to one phase.", time_text(span))});
  BarChart chart;
  chart.bars.push_back(std::move(bar));
  blocks.emplace_back(Figure(std::move(chart)));
  blocks.emplace_back(std::move(table));
}

// What is missing is said in one line.
void add_coverage(const Run& run, Blocks& blocks) {
  Table table{"What the capture explains", {{"Explained by the capture"}, {"", kRight}}};
  std::vector<std::string> unknown;
  const auto row = [&](const char* what, bool known, Cell cell) {
    if (known) table.rows.push_back({what, std::move(cell)});
    else unknown.emplace_back(what);
  };
  const auto time = [&](const char* what, const std::optional<Ns>& value) { row(what, value.has_value(), time_cell(value)); };
  const auto share = [&](const char* what, const std::optional<double>& value) { row(what, value.has_value(), share_cell(value)); };
  time(run.coverage.devices.size() > 1 ? "GPU busy, whole capture, mean over the GPUs" : "GPU busy, whole capture",
       run.coverage.gpu_busy_ns);
  time("kernel time, summed", run.coverage.kernel_sum_ns);
  share("kernel time inside a stage", run.coverage.in_stage_share);
  share("kernel time whose launch is not in the capture", run.coverage.unlinked_share);
  share("GPU time in CUDA graphs captured at graph level", run.coverage.graph_only_share);
  if (run.coverage.graph_unjoined_share)
    share("time of CUDA graphs' kernels not joined to where they were captured", run.coverage.graph_unjoined_share);
  share("GPU time outside every stage", run.phases.gpu_without_range_share);
  share("stage time in windows without any GPU work", run.phases.ranges_without_gpu_share);
  blocks.emplace_back(Heading{"Coverage", "coverage"});
  if (!unknown.empty())
    blocks.emplace_back(
        missing(table.rows.empty() ? std::string("Not captured: no GPU work was recorded.") : "Not captured: " + join(unknown) + "."));
  add(blocks, std::move(table));
  if (run.coverage.graph_only_share.value_or(0) > 0)
    blocks.emplace_back(Paragraph{
        Text("CUDA graphs were captured at graph level (kernels inside not visible). Fix: " + fix_of({Code::kGraphsWithoutKernels}))});
}

constexpr double kWorthTelling = 0.05;  // of a stage's wall
constexpr std::size_t kRows = 4, kCalls = 3;
constexpr double kShownShare = 0.005;

bool told(const StageEntry& stage) {
  return stage.launch_waits && stage.budget && stage.launch_waits->wait_ns() > 0 &&
         static_cast<double>(stage.budget->launch_wait_ns()) > kWorthTelling * static_cast<double>(stage.budget->wall_ns);
}

const char* before_text(CallKind kind) {
  switch (kind) {
    case CallKind::kNone: return "nothing: it is the thread's first call";
    case CallKind::kKernelLaunch: return "a kernel launch";
    case CallKind::kGraphLaunch: return "a CUDA graph launch";
    case CallKind::kCopy: return "a copy or memset";
    case CallKind::kWait: return "a wait for the GPU";
    case CallKind::kOther: break;
  }
  return "another call";
}

const char* launch_text(CallKind kind) {
  switch (kind) {
    case CallKind::kKernelLaunch: return "kernel";
    case CallKind::kGraphLaunch: return "CUDA graph";
    case CallKind::kCopy: return "copy or memset";
    default: return "other";
  }
}

void add_rows(const Run& run, const StageEntry& stage, Table& table) {
  const LaunchWaits& waits = *stage.launch_waits;
  for (std::size_t i = 0; i < waits.late.size() && i < kRows; ++i) {
    const LateLaunches& late = waits.late[i];
    if (part_of(late.wait_ns(), waits.wait_ns()).value_or(0) < kShownShare) break;
    table.rows.push_back({text_cell(stage_title(run, stage.name)), launch_text(late.launch), before_text(late.before),
                          count_cell(late.count),
                          time_cell(ratio(static_cast<double>(late.wait_ns()), static_cast<double>(late.count)).value_or(0)),
                          share_cell(part_of(late.wait_ns(), waits.wait_ns())), share_cell(part_of(late.starved_ns, late.wait_ns())),
                          time_cell(static_cast<double>(late.longest_ns))});
  }
}

std::string calls_text(const Run& run, const StageEntry& stage) {
  const LaunchWaits& waits = *stage.launch_waits;
  const auto share = [&](Ns ns) { return part_of(ns, waits.starved_ns).value_or(0); };
  std::string text = fmt::format("{}: before late launches the launching thread is in no CUDA call {} of the time",
                                 stage_title(run, stage.name), share_text(share(waits.outside_calls_ns)));
  for (std::size_t i = 0; i < waits.calls.size() && i < kCalls; ++i)
    if (share(waits.calls[i].time_ns) >= kShownShare)
      text += fmt::format(", in {} {}", waits.calls[i].name, share_text(share(waits.calls[i].time_ns)));
  return text + ".";
}

Blocks late_blocks(const std::vector<std::string>& calls, Table table) {
  Blocks blocks;
  if (table.rows.empty()) return blocks;
  blocks.emplace_back(Heading{"Late launches"});
  blocks.emplace_back(
      Paragraph{"The GPU was idle when the launch call began. Its wait ends when the work begins; time in which the stage's "
                "thread waited for the GPU is left out."});
  blocks.emplace_back(std::move(table));
  if (!calls.empty()) blocks.emplace_back(notes(calls));
  return blocks;
}

}  // namespace

Section budgets(const Run& run) {
  Section out{"budget", "Budget", "Where the time went"};
  const Stages stages = with_budget(run);
  if (run.stages.empty()) {
    add(out.blocks, missing("No stage is marked, so there is no time to divide."));
  } else if (stages.empty()) {
    add(out.blocks, missing("Not captured: the time of a stage is divided by GPU data, and there is none."));
  } else {
    BarChart chart;
    const Bins bins = bins_of(stages);
    for (const auto* stage : stages) chart.bars.push_back(budget_bar(run, *stage, bins));
    out.blocks = {Paragraph{"Each nanosecond of a stage's measured windows is in one bin."}, Figure(std::move(chart)), bins_legend(bins)};
    for (std::size_t i = 0; i < stages.size(); i += kAcross)
      out.blocks.emplace_back(budget_table(run,
                                           {stages.begin() + static_cast<std::ptrdiff_t>(i),
                                            stages.begin() + static_cast<std::ptrdiff_t>(std::min(i + kAcross, stages.size()))},
                                           bins));
    add(out.blocks, stage_notes(run));
  }
  for (auto& part : {late_launches(run), ranks(run), gpus(run), communication(run)})
    out.blocks.insert(out.blocks.end(), part.begin(), part.end());
  add_phases(run, out.blocks);
  for (auto& block : sampled_steps(run)) out.blocks.push_back(std::move(block));
  add_coverage(run, out.blocks);
  return out;
}

Blocks late_launches(const Run& run) {
  Table table{"Late launches", texts({"Stage", "Late launch", "The thread's call before"}) +
                                   numbers({"Times", "Mean wait", "of all such waits", "before the call"}) + numbers({"Longest"}, kWide)};
  std::vector<std::string> calls;
  for (const auto& stage : run.stages) {
    if (!told(stage) || told_by_its_parts(run, stage)) continue;
    add_rows(run, stage, table);
    if (stage.launch_waits->starved_ns > 0) calls.push_back(calls_text(run, stage));
  }
  return late_blocks(calls, std::move(table));
}

}  // namespace nl::exporters::report
