#include <fmt/core.h>

#include <algorithm>

#include "exporters/report/sections/sections.h"
#include "exporters/report/text/run_text.h"
#include "model/shell.h"
#include "model/words.h"

namespace nl::exporters::report {
namespace {

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

Text activity_note(const Run& run) {
  return saw_gpu(run) ? why_not(run, {Code::kActivityDenied, Code::kActivityFailed}, "Not sampled", "sampling") : Text();
}

Blocks counters(const Run& run) {
  Table table{"GPU counters",
              {{"Stage"},
               {"Measured by"},
               {"Windows", kRight},
               {"Window on the GPU", kRight},
               {"DRAM read", kRight},
               {"DRAM written", kRight},
               {"DRAM %", kRight},
               {"SM active %", kRight},
               {"Tensor %", kRight},
               {"Occupancy %", kRight}}};
  for (const auto& stage : run.stages) {
    if (stage.counters && counted_any(*stage.counters)) table.rows.push_back(counted_row(run, stage));
    if (stage.sampling && stage.sampling->samples > 0) table.rows.push_back(sampled_row(run, stage));
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
