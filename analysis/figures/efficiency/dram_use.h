#pragma once

#include <optional>
#include <vector>

#include "model/run.h"

namespace nl::analysis {

// Sets dram_pct of the stages' counters and samples, and of the kernels that CUPTI measured with what bounds these, from
// bytes and durations. The peak is that of run.peaks for the GPU that they are of and for its twins, else the device's own;
// where neither is known there is no percentage. A second call changes nothing.
void add_dram_use(const Run& run, std::vector<StageEntry>& stages, std::optional<std::vector<KernelEntry>>& kernels);

}  // namespace nl::analysis
