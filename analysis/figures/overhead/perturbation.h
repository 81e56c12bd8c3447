#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/staging/iterations.h"
#include "model/perturbation.h"
#include "model/trace.h"

// What profiling cost: unprofiled passes of a workload against profiled ones.
namespace nl::analysis {

inline constexpr double kSlowdownLimit = 0.10;  // more is warned of

struct PassStage {
  std::string stage;
  double median_ns = 0;       // of the measured windows
  std::uint64_t windows = 0;  // warm-up included: how often the workload did it
};

struct PassTimes {
  PassKind profiler = PassKind::kUnprofiled;  // or kNsys, kCollector, kNcu
  std::vector<PassStage> stages;
  Ns duration_ns = 0;  // of the whole process
  bool profiled() const { return profiler != PassKind::kUnprofiled; }
};

// As a sentence names it.
std::string profiler_words(PassKind profiler);

// The stages of one pass as the main analysis sees them, from its ranges alone.
PassTimes pass_times(PassKind profiler, const Trace& trace, const WarmupRule& warmup, Ns duration_ns);

// One row per profiler and stage, from passes in the order they were run. A profiler without stages of its
// own (ncu takes the place of the stopwatch) is compared by the whole run.
Perturbation compare_passes(const std::vector<PassTimes>& passes);

}  // namespace nl::analysis
