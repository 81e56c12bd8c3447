#pragma once

#include <vector>

#include "model/run.h"
#include "model/trace.h"

namespace nl::orchestrator {

// All of the GPU's work is inside CUDA graphs that were traced as wholes: there is no kernel to choose.
inline bool only_whole_graphs(const Trace& trace, const Run& run) {
  return run.kernels && run.kernels->empty() && !trace.graph_runs.empty();
}

// The kernels that counters are wanted of.
inline std::vector<KernelEntry*> selected_kernels(Run& run) {
  std::vector<KernelEntry*> selected;
  if (run.kernels)
    for (auto& kernel : *run.kernels)
      if (kernel.selected) selected.push_back(&kernel);
  return selected;
}

// Those of them that have none yet.
inline std::vector<KernelEntry*> unmeasured_kernels(Run& run) {
  std::vector<KernelEntry*> missing = selected_kernels(run);
  std::erase_if(missing, [](const KernelEntry* kernel) { return !kernel->ncu.empty(); });
  return missing;
}

}  // namespace nl::orchestrator
