#pragma once

#include <vector>

#include "model/efficiency.h"
#include "model/run.h"

namespace nl::analysis {

// Fills peaks and efficiency of the run, from its stages, its hardware and its model's attributes: for every
// stage the work of one window term by term, and how near to the GPU's peaks it was done. Where something is
// not known, the stage's note says what, and what would make it known. Stages and their budgets come first.
void fill_efficiency(const std::vector<DeviceTableEntry>& table, Run& run);

}  // namespace nl::analysis
