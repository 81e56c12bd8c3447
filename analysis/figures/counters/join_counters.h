#pragma once

#include <optional>
#include <vector>

#include "model/counters.h"
#include "model/evidence.h"
#include "model/run.h"

// What the GPU's counters say of the stages.
namespace nl::analysis {

// Sets StageEntry::counters: sums for one window on average, percentages over all windows that count.
// DRAM % waits for the peaks: add_dram_use. A percentage of the active cycles is weighted by these where they were
// measured, any other by the time on the GPU.
// Windows that the trace took for warm-up are left out by their number, where others remain. A stage without a
// window of its own gets a note, where others have some. Returns which stages of the report are not among them.
std::vector<Remark> add_stage_counters(const CounterReport& report, std::vector<StageEntry>& stages);

// The parts of a Run that counters add to.
struct CounterFigures {
  std::vector<StageEntry> stages;
  std::optional<std::vector<KernelEntry>> kernels;
  std::optional<Remark> kernels_note;
  ImportStats import_stats;
  DamagedRows ncu_rows_damaged = {};
  std::vector<Problem> problems = {};
  Meter meter = Meter::kNone;  // what measured, of a run that was captured here
};

// Stages and kernels with what ncu and CUPTI counted of them. Where there is no trace the kernels are ncu's own.
CounterFigures join_counters(const Evidence& evidence, CounterFigures figures);

// Why CUPTI cannot count a kernel, whatever the pass does; nothing where it can.
std::optional<Remark> never_counted(const KernelEntry& kernel);

// Several reports of one meter as one.
NcuReport merged(const std::vector<NcuReport>& reports);

}  // namespace nl::analysis
