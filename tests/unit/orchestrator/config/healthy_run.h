#pragma once

#include <algorithm>

#include "model/run.h"

namespace nl::test {

// A run about which no shipped rule has anything to say, with every input of the rules captured: prefill, decode
// and its steps, three kernels that ncu measured, one table of operators.
Run healthy_run();

inline StageEntry& stage(Run& run, const char* name) {
  return *std::find_if(run.stages.begin(), run.stages.end(), [&](const auto& each) { return each.name == name; });
}
inline StageActivity& activity(Run& run, const char* name) { return *stage(run, name).activity; }
inline StageEfficiency& efficiency(Run& run, const char* name) {
  return *std::find_if(run.efficiency.begin(), run.efficiency.end(), [&](const auto& each) { return each.stage == name; });
}
inline KernelEntry& kernel(Run& run, std::size_t index) { return (*run.kernels)[index]; }
inline NcuSample& sample_of(Run& run, std::size_t index) { return kernel(run, index).ncu.front(); }

// Moves a share of the stage's wall time from computing to another bin.
inline void spend(Run& run, const char* name, Ns Budget::* bin, double share) {
  Budget& budget = *stage(run, name).budget;
  const Ns ns = static_cast<Ns>(static_cast<double>(budget.wall_ns) * share);
  budget.*bin += ns;
  budget.gpu_compute_ns -= ns;
}

}  // namespace nl::test
