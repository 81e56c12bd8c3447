#pragma once

#include <optional>
#include <vector>

#include "analysis/figures/overhead/tracing_cost.h"
#include "analysis/staging/staged_trace.h"
#include "model/perturbation.h"

// What a traced call costs on this machine: a loop of calls, traced and not.
namespace nl::analysis {

// By the blocks of one loop: how long a call took in each, untraced and traced. Nothing where either has too few.
std::optional<CallCost> call_cost(const std::vector<double>& bare_ns, const std::vector<double>& traced_ns);

// No tracer makes a call faster: where one seems to, the machine's speed changed between the loops, and no cost is known.
bool is_plausible(const Calibration& calibration);

// What the tracer adds to a launch of a program of Python or of another one; nothing where it was not calibrated. A launch costs the least
// where launches come back to back, and more the more other code runs in between. A program of Python runs more of it than the loop does:
// the shipped figures say how many times as much a launch costs there as back to back, and the loop how fast this machine is.
std::optional<LaunchCost> calibrated_launch(const Calibration& calibration, PassKind profiler, bool python,
                                            const TracingKnowledge& shipped);

inline constexpr double kWorthCalibrating = 0.05;

// Whether tracing may make the windows of a stage so much longer, by the largest cost that is shipped: then it is worth a calibration.
bool tracing_may_matter(const StagedTrace& staged, bool python, const TracingKnowledge& shipped, double share = kWorthCalibrating);

}  // namespace nl::analysis
