#pragma once

#include "model/run.h"

namespace nl::analysis {

// Fills dram_pct of the stages' counters and samples, and of the kernels that CUPTI measured with what bounds these, from
// bytes and durations. The peak is that of run.peaks for the GPU that they are of and for its twins, else the device's own;
// where neither is known there is no percentage. To be called once the peaks are filled; again does no harm.
void fill_dram_use(Run& run);

}  // namespace nl::analysis
