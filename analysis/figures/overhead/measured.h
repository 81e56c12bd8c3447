#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/figures/overhead/decision.h"
#include "analysis/staging/staged_trace.h"
#include "model/evidence.h"
#include "model/perturbation.h"
#include "model/run.h"

// The overhead of profiling: unprofiled passes of a workload against profiled ones.
namespace nl::analysis {

// The profiler as a sentence names it.
std::string profiler_words(PassKind profiler);

// The stages of one pass as the main analysis sees them, from its ranges alone.
PassTimes pass_times(PassKind profiler, const StagedTrace& staged, Ns duration_ns);

// One row per profiler and stage, from passes in the order they were run. A profiler without stages of its
// own (ncu takes the place of the library that times them) is compared by the whole run.
Perturbation compare_passes(const std::vector<PassTimes>& passes, const OverheadRule& rule = {});

// The overhead of profiling: unprofiled passes against traced ones. A note says why where it was not measured.
Perturbation measured_overhead(const Evidence& evidence, const StagedTrace& staged, const OverheadRule& rule = {});

// What a trace tells alone: of steps that were traced against those that were not (capture.duty). Empty where all were traced.
Perturbation overhead_by_turns(const Trace& trace, const OverheadRule& rule);

// The same while the passes are still being run: of those beside the capture so far, and the capture.
Perturbation overhead_so_far(const Repeats& repeats, PassTimes capture, const StagedTrace& staged, const OverheadRule& rule);

// Joules and clocks of the stages. The kernels tell which GPUs were used.
Energy measured_energy(const Evidence& evidence, const StagedTrace& staged, const std::optional<std::vector<KernelEntry>>& kernels,
                       const std::vector<StageEntry>& stages);

// The stages, with the windows that ran on a slowed GPU taken out of their series.
std::vector<StageEntry> without_throttled(const Evidence& evidence, const StagedTrace& staged,
                                          const std::optional<std::vector<KernelEntry>>& kernels, std::vector<StageEntry> stages);

}  // namespace nl::analysis
