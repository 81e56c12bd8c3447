#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/staging/staged_trace.h"
#include "model/evidence.h"
#include "model/perturbation.h"

// What profiling cost: unprofiled passes of a workload against profiled ones.
namespace nl::analysis {

inline constexpr double kSlowdownLimit = 0.10;  // more is warned of

// As a sentence names it.
std::string profiler_words(PassKind profiler);

// The stages of one pass as the main analysis sees them, from its ranges alone.
PassTimes pass_times(PassKind profiler, const StagedTrace& staged, Ns duration_ns);

// One row per profiler and stage, from passes in the order they were run. A profiler without stages of its
// own (ncu takes the place of the stopwatch) is compared by the whole run.
Perturbation compare_passes(const std::vector<PassTimes>& passes);

}  // namespace nl::analysis
