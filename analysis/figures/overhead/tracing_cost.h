#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/perturbation.h"
#include "model/run.h"

// What tracing adds to a step: measured where unprofiled passes tell it, else by the launches of the step and what one costs, on this machine
// where that was calibrated.
namespace nl::analysis {

struct LaunchCost {  // added to one launch on the host; 0: not known
  double low_ns = 0, high_ns = 0;
};
struct TracerCosts {
  LaunchCost nsys, collector;
};

// As conf/tracing has it.
struct TracingKnowledge {
  TracerCosts python, native;                    // of programs of Python, whose code evicts the tracer's from the caches, and of others
  double most_nsys = 1e9, most_collector = 1e9;  // no program was seen that tracing slows by a larger share
};

// Whether it is a program of Python, by its versions, processes and command.
bool is_python(const std::map<std::string, std::string>& versions, const std::vector<Process>& processes,
               const std::vector<std::string>& command);

// What the tracer that recorded the run added to a launch. Nothing where another tool recorded it, or its cost is not known.
std::optional<LaunchCost> launch_cost(const Run& run, const std::vector<Process>& processes, const TracingKnowledge& knowledge);

// Of the tracer that recorded the run, then of the collector where nsys recorded it. Empty: nothing was recorded by either, no stage says how
// long a step takes, or neither passes nor launches tell it. `processes` are those of the trace, by their executables.
std::vector<TracingCost> tracing_costs(const Run& run, const std::vector<Process>& processes, const TracingKnowledge& knowledge);

}  // namespace nl::analysis
