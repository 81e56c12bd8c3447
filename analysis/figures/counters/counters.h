#pragma once

#include "model/counters.h"
#include "model/run.h"

// What the GPU's counters say of the stages.
namespace nl::analysis {

// Fills StageEntry::counters of run.stages: sums for one window on average, percentages over all windows that count.
// DRAM % waits for the peaks: fill_dram_use. A percentage of the active cycles is weighted by these where they were
// measured, any other by the time on the GPU.
// Windows that the trace took for warm-up are left out by their number, where others remain. A stage without a
// window of its own gets a note, where others have some. The report's notes and damage go to run.import_stats.
void apply_stage_counters(const CounterReport& report, Run& run);

}  // namespace nl::analysis
