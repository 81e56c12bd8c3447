#pragma once

#include <vector>

#include "model/run.h"

namespace nl {

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

}  // namespace nl
