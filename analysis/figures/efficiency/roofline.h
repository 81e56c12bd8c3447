#pragma once

#include "model/run.h"

namespace nl::analysis {

// Fills the roofline of the run: a point for every launch that ncu measured with FLOP counts, DRAM bytes and a
// duration, and notes for those that lack one. Peaks (fill_efficiency) and ncu's samples (match_ncu) come first.
void fill_roofline(Run& run);

}  // namespace nl::analysis
