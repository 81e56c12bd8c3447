#pragma once

#include <vector>

#include "model/counters.h"
#include "model/run.h"

// What the GPU's counters say of the stages.
namespace nl::analysis {

// Sets StageEntry::counters: sums for one window on average, percentages over all windows that count.
// DRAM % waits for the peaks: add_dram_use. A percentage of the active cycles is weighted by these where they were
// measured, any other by the time on the GPU.
// Windows that the trace took for warm-up are left out by their number, where others remain. A stage without a
// window of its own gets a note, where others have some. Returns which stages of the report are not among them.
std::vector<Remark> add_stage_counters(const CounterReport& report, std::vector<StageEntry>& stages);

}  // namespace nl::analysis
