#pragma once

#include <optional>
#include <vector>

#include "model/efficiency.h"
#include "model/run.h"

namespace nl::analysis {

struct Efficiency {
  std::optional<DevicePeaks> peaks;  // of the first GPU with kernels
  std::vector<StageEfficiency> stages;
};

// From a run's stages and their budgets, its hardware and its model's attributes: for every stage the work of one
// window term by term, and how near to the GPU's peaks it was done. Where something is not known, the stage's note says what, and
// what would make it known.
Efficiency efficiency_of(const Run& run, const std::vector<DeviceTableEntry>& table);

}  // namespace nl::analysis
