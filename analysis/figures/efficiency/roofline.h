#pragma once

#include "model/run.h"

namespace nl::analysis {

// A point for every launch of the run that ncu measured with FLOP counts, DRAM bytes and a duration, and notes for those that
// lack one. Peaks (efficiency_of) and ncu's samples (match_ncu) come first.
Roofline roofline_of(const Run& run);

}  // namespace nl::analysis
