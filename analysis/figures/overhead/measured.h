#pragma once

#include <optional>
#include <vector>

#include "analysis/staging/staged_trace.h"
#include "model/evidence.h"
#include "model/run.h"

namespace nl::analysis {

// What profiling cost: unprofiled passes against traced ones. A note says why where it was not measured.
Perturbation measured_overhead(const Evidence& evidence, const StagedTrace& staged);

// Joules and clocks of the stages. The kernels tell which GPUs were used.
Energy measured_energy(const Evidence& evidence, const StagedTrace& staged, const std::optional<std::vector<KernelEntry>>& kernels,
                       const std::vector<StageEntry>& stages);

// The stages, with the windows that ran on a slowed GPU taken out of their series.
std::vector<StageEntry> without_throttled(const Evidence& evidence, const StagedTrace& staged,
                                          const std::optional<std::vector<KernelEntry>>& kernels, std::vector<StageEntry> stages);

}  // namespace nl::analysis
