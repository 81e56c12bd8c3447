#include <fmt/core.h>

#include <algorithm>

#include "exporters/report/sections/sections.h"
#include "exporters/report/text/links.h"
#include "exporters/report/text/run_text.h"
#include "model/run_metrics.h"
#include "model/shell.h"
#include "model/words.h"

namespace nl::exporters::report {
namespace {

std::string wall_tip(const std::string& name, const TimeSummary& time) {
  std::string percentiles;
  const auto add_known = [&](const char* title, const std::optional<Ns>& ns) {
    if (ns) percentiles += fmt::format("{} {} ns, ", title, *ns);
  };
  add_known("p90", time.p90_ns);
  add_known("p95", time.p95_ns);
  add_known("p99", time.p99());
  return fmt::format("{}: mean {:.0f} ns, std {}, p50 {:.0f} ns, {}min {} ns, max {} ns, n = {}", name, time.mean_ns,
                     time.count > 1 ? fmt::format("{:.0f} ns", time.stddev_ns) : kNoValue, time.median_ns, percentiles, time.min_ns,
                     time.max_ns, time.count);
}

// Where a line beside the bar ends: the highest percentile that the windows support, else the longest.
double far_ns(const TimeSummary& time) { return static_cast<double>(time.p99().value_or(time.p95_ns.value_or(time.max_ns))); }

// The median and the percentiles beside it. A percentile that no row has is left out.
struct TimeColumns {
  bool p95 = false, p99 = false;

  void see(const TimeSummary& time) {
    p95 = p95 || time.p95_ns;
    p99 = p99 || time.p99();
  }
  std::vector<Column> heads() const {
    std::vector<Column> out = numbers({"p50"});
    if (p95) out = out + numbers({"p90", "p95"});
    if (p99) out = out + numbers({"p99"});
    return out + numbers({"Longest"});
  }
  void add_cells(const TimeSummary& time, Row& row) const {
    row.push_back(time_cell_if(time.count > 0, time.median_ns));
    if (p95) row.insert(row.end(), {time_cell(time.p90_ns), time_cell(time.p95_ns)});
    if (p99) row.push_back(time_cell(time.p99()));
    row.push_back(time_cell_if(time.count > 0, static_cast<double>(time.max_ns)));
  }
};

BarChart wall_bars(const Run& run) {
  double whole = 0;
  for (const auto& stage : run.stages) whole = std::max({whole, far_ns(stage.wall), static_cast<double>(stage.wall.max_ns)});
  BarChart chart;
  for (const auto& stage : run.stages) {
    if (stage.wall.count == 0) continue;
    const std::string title = stage_title(run, stage.name), tip = wall_tip(title, stage.wall);
    chart.bars.push_back({title,
                          "",
                          {{stage.wall.mean_ns, stage_colour(run, stage.name), tip}},
                          whole,
                          mean_text(stage.wall),
                          tip,
                          stage.wall.median_ns,
                          far_ns(stage.wall)});
  }
  return chart;
}

std::string line_caption(const Run& run) {
  bool p99 = false, p95 = false, longest = false;
  for (const auto& stage : run.stages)
    if (stage.wall.count > 0) (stage.wall.p99() ? p99 : stage.wall.p95_ns ? p95 : longest) = true;
  std::vector<std::string> ends;
  if (p99) ends.emplace_back("p99");
  if (p95) ends.emplace_back(p99 ? "p95 (below 100 windows)" : "p95");
  if (longest) ends.emplace_back(p99 || p95 ? "the longest (below 20)" : "the longest");
  return fmt::format("Mean wall time of a window; the tick is the median{}.", ends.empty() ? "" : ", the line ends at " + join_and(ends));
}

// Where stages come from that the workload does not mark; the notes on the capture say more.
std::string source_text(const Run& run) {
  const Remark* found = find_first(run.import_stats.notes, {Code::kStagesInferred, Code::kStagesOfEngine, Code::kStagesMapped});
  return found == nullptr ? "" : text_of(*found);
}

std::string ranges_text(const StageEntry& stage) {
  std::string text = join(stage.ranges);
  if (stage.derived) text += (text.empty() ? "" : ", ") + std::string("the span of its steps");
  if (stage.open_ranges > 0) text += fmt::format(" ({} never closed)", stage.open_ranges);
  return text;
}

// What evidence speaks of: launches and waits of a window on average, and the longest time without GPU work.
void add_activity(const StageEntry& stage, Row& row) {
  const StageActivity activity = stage.activity.value_or(StageActivity{});
  const auto each = [&](std::uint64_t count) {
    const auto mean = stage.activity ? ratio(static_cast<double>(count), static_cast<double>(stage.wall.count)) : std::nullopt;
    return mean ? Cell(tokens_text(mean), mean) : Cell(kNoValue);
  };
  row.insert(row.end(), {each(activity.launches), each(activity.graph_launches), each(activity.sync_calls),
                         time_cell_if(activity.longest_gap_ns > 0, static_cast<double>(activity.longest_gap_ns))});
}

void add_gpu_table(const Run& run, Blocks& blocks) {
  const bool any = std::any_of(run.stages.begin(), run.stages.end(),
                               [](const StageEntry& s) { return s.gpu_busy_ns || s.kernel_calls || s.tokens_per_s; });
  if (!any) return add(blocks, missing("GPU time of the stages: not captured."));
  Table table{"GPU time of each stage", texts({"Stage"}) + numbers({"GPU busy", "of wall", "GPU sum", "Kernels"}) +
                                            numbers({"Launches per window", "of them graphs", "Waits per window", "Longest gap"}, kWide) +
                                            numbers({"Tokens per window", "Tokens/s"})};
  for (const auto& stage : run.stages) {
    // Work that a range launched may run on after its end, so that more than 100 % is possible.
    const bool comparable = stage.gpu_busy_ns && stage.wall.count > 0 && stage.open_ranges == 0;
    table.rows.push_back({text_cell(stage_title(run, stage.name)), time_cell(stage.gpu_busy_ns),
                          share_cell(comparable ? part_of(*stage.gpu_busy_ns, stage.wall.total_ns) : std::nullopt),
                          time_cell(stage.gpu_sum_ns), stage.kernel_calls ? count_cell(*stage.kernel_calls) : Cell(kNoValue)});
    add_activity(stage, table.rows.back());
    table.rows.back().insert(table.rows.back().end(),
                             {Cell(tokens_text(stage.tokens_per_window), stage.tokens_per_window), figure_cell(stage.tokens_per_s)});
    table.rows.back().id = gpu_time_id(stage.name);
  }
  if (!generates(run)) drop_columns(table, {"Tokens per window", "Tokens/s"});
  blocks.emplace_back(Paragraph{"GPU busy counts overlapping work once, GPU sum counts it twice."});
  blocks.emplace_back(std::move(table));
  add(blocks, Paragraph{runs_on_text(run)});
}

void add_latency(const Run& run, Blocks& blocks) {
  TimeColumns times;
  for (const auto* time : {&run.latency.ttft, &run.latency.prefill, &run.latency.tpot})
    if (*time) times.see(**time);
  Table table{"Latency", texts({"Latency"}) + numbers({"Mean", "Std"}) + times.heads() + numbers({"n"})};
  const std::string label = source_label(run);
  const auto row = [&](std::string_view key, const std::optional<TimeSummary>& time) {
    if (!time) return;
    Row cells = {figure_title(key) + label, time_cell(time->mean_ns), time_cell_if(time->count > 1, time->stddev_ns)};
    times.add_cells(*time, cells);
    cells.push_back(count_cell(time->count));
    table.rows.push_back(std::move(cells));
  };
  row("ttft_ms", run.latency.ttft);
  row("prefill_ms", run.latency.prefill);
  row("tpot_ms", run.latency.tpot);
  add(blocks, std::move(table));
  if (run.latency.output_tokens_per_s)
    add(blocks, Paragraph{fmt::format("{}{}: {}.", figure_title("tokens_per_s"), label, figure_text(run.latency.output_tokens_per_s))});
  add(blocks, notes(run.latency.notes));
}

std::string iterations_text(const Iterations& all) {
  const std::string warmup =
      all.warmup == 0 ? "none is warm-up" : plural(all.warmup, "is warm-up", "are warm-up") + " and left out of every figure";
  return fmt::format("{}; {}. Rule: {}.", plural(all.count, "iteration"), warmup, all.rule.empty() ? "none" : all.rule);
}

constexpr const char* kCounterLegend =
    "Counted: one window on average, in a pass of its own; tensor % and occupancy % are of the cycles in which the SMs are "
    "active. Sampled: DRAM per second; percentages are of all cycles, unless capture.sampling_metrics names others.";

// The command that would capture it, of the configuration that does.
Text to_capture(const Run& run, const char* configuration) {
  return Text(". To capture it: ") + code(run_again({"--config", configuration}, run.workload.command, run.session.has_value()));
}

bool saw_gpu(const Run& run) { return run.kernels.has_value() || !run.hardware.gpus.empty(); }
bool counted_any(const StageCounters& counters) { return counters.windows > 0; }

// The columns are those of counted stages; samples have the same metrics in units of their own.
void add_metrics(Row& row, MetricPlace place, const MetricValues& values) {
  for (const MetricInfo* column : columns_of(MetricPlace::kStage))
    row.push_back(metric_cell(info_of(place, column->metric).unit, values[column->metric]));
}

Row counted_row(const Run& run, const StageEntry& stage) {
  const StageCounters& c = *stage.counters;
  Row row = {stage_title(run, stage.name), key_cell(c.measured_by), count_cell(c.windows),
             time_cell_if(c.duration_ns.has_value(), c.duration_ns.value_or(0))};
  add_metrics(row, MetricPlace::kStage, c.values);
  return row;
}

Row sampled_row(const Run& run, const StageEntry& stage) {
  Row row = {stage_title(run, stage.name), "sampled, " + plural(stage.sampling->samples, "sample"), kNoValue, kNoValue};
  add_metrics(row, MetricPlace::kSampled, stage.sampling->values);
  return row;
}

// Why the collector did not, where it says so; else the command that would.
Text why_not(const Run& run, std::initializer_list<Code> troubles, const std::string& what, const char* configuration) {
  const auto& missing = run.provenance.counters_missing;
  if (missing && std::find(troubles.begin(), troubles.end(), missing->code) != troubles.end()) return sentence(what + ": " + missing->what);
  if (const Remark* trouble = find_first(run.import_stats.notes, troubles)) return sentence(what + ": " + text_of(*trouble));
  return Text(what) + to_capture(run, configuration);
}

Text note_on(const Run& run, const std::vector<std::string>& stages, bool measured, const std::string& note) {
  if (measured) return join(stages) + ": " + note + (note.ends_with('.') ? "" : ".");
  if (note.empty()) return Text(join(stages) + ": counters not measured") + to_capture(run, "cupti");
  return join(stages) + ": counters not measured: " + note + (note.ends_with('.') ? "" : ".");
}

// What was not measured and why, or what to bear in mind. Stages of which the same is to be said share a line.
std::vector<Text> counter_notes(const Run& run) {
  struct Group {
    bool measured;
    std::string note;
    std::vector<std::string> stages;
  };
  std::vector<Group> groups;
  bool any = false;
  for (const auto& stage : run.stages) {
    any = any || stage.counters.has_value();
    if (!stage.counters || (counted_any(*stage.counters) && stage.counters->note.empty())) continue;
    const Group mine{counted_any(*stage.counters), stage.counters->note, {}};
    auto found =
        std::find_if(groups.begin(), groups.end(), [&](const Group& g) { return g.measured == mine.measured && g.note == mine.note; });
    if (found == groups.end()) found = groups.insert(groups.end(), mine);
    found->stages.push_back(stage_title(run, stage.name));
  }
  std::vector<Text> out;
  for (const Group& group : groups) out.push_back(note_on(run, group.stages, group.measured, group.note));
  if (saw_gpu(run) && !run.stages.empty() && !any)
    out.push_back(why_not(run, kCounterTroubles, "GPU counters of each stage: not measured", "cupti"));
  return out;
}

}  // namespace

Section stages(const Run& run) {
  Section out{"stages", "Stages", "Stages"};
  if (run.stages.empty()) {
    out.blocks = {missing("No stage is marked in this capture. " + fix_of({Code::kNoStages}))};
    return out;
  }
  TimeColumns times;
  for (const auto& stage : run.stages) times.see(stage.wall);
  Table wall{"Stages", texts({"Stage"}) + numbers({"n", "Mean", "Std"}) + times.heads() + numbers({"Sum", "Warm-up"}) + texts({"Ranges"})};
  for (const auto& stage : run.stages) {
    const TimeSummary& time = stage.wall;
    const bool any = time.count > 0;
    Row cells = {text_cell(stage_title(run, stage.name)), count_cell(time.count), time_cell_if(any, time.mean_ns),
                 time_cell_if(time.count > 1, time.stddev_ns)};
    times.add_cells(time, cells);
    cells.insert(cells.end(),
                 {time_cell_if(any, static_cast<double>(time.total_ns)),
                  stage.warmup_windows > 0 ? count_cell(stage.warmup_windows) : Cell(kNoValue), text_cell(ranges_text(stage))});
    wall.rows.push_back(std::move(cells));
    wall.rows.back().id = stage_id(stage.name);
  }
  add(out.blocks, Paragraph{source_text(run)});
  for (Block block : Blocks{Figure(wall_bars(run)), caption(line_caption(run)), wall}) out.blocks.push_back(std::move(block));
  if (run.iterations.count > 0 || !run.iterations.rule.empty()) add(out.blocks, Paragraph{iterations_text(run.iterations)});
  add_gpu_table(run, out.blocks);
  if (generates(run)) add_latency(run, out.blocks);
  for (auto& part : {counters(run), iterations(run)}) out.blocks.insert(out.blocks.end(), part.begin(), part.end());
  return out;
}

Text activity_note(const Run& run) {
  return saw_gpu(run) ? why_not(run, {Code::kActivityDenied, Code::kActivityFailed}, "Not sampled", "sampling") : Text();
}

Blocks counters(const Run& run) {
  Table table{"GPU counters", texts({"Stage", "Measured by"}) + numbers({"Windows", "Window on the GPU", "DRAM read", "DRAM written",
                                                                         "DRAM %", "SM active %", "Tensor %", "Occupancy %"})};
  for (const auto& stage : run.stages) {
    const std::size_t first = table.rows.size();
    if (stage.counters && counted_any(*stage.counters)) table.rows.push_back(counted_row(run, stage));
    if (stage.sampling && stage.sampling->samples > 0) table.rows.push_back(sampled_row(run, stage));
    if (table.rows.size() > first) table.rows[first].id = counters_id(stage.name);
  }
  List list;
  for (auto& note : counter_notes(run)) list.items.push_back({std::move(note)});
  if (table.rows.empty() && list.items.empty()) return {};
  Blocks out = {Heading{"GPU counters"}};
  if (!table.rows.empty()) out.emplace_back(Paragraph{kCounterLegend});
  add(out, std::move(table));
  add(out, std::move(list));
  return out;
}

}  // namespace nl::exporters::report
