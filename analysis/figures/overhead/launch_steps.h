#pragma once

#include <string>
#include <vector>

#include "analysis/staging/staged_trace.h"
#include "model/evidence.h"

// Steps that no range marks, in a pass that recorded nothing but the times of its launches.
namespace nl::analysis {

struct LaunchSteps {
  std::vector<PassStage> stages;
  std::string trouble;  // why there are none
};

// The windows of the trace, found again in the pass: a window of the trace begins with the k-th launch of its thread, and so it does in
// the pass. A step lasts from its first launch to the first launch of the next; the last step before a pause is left out, because its
// end is a wait or the end of GPU work, which the pass does not record. Threads belong together where the same functions are launched
// in the same order; where none are, nothing is told.
LaunchSteps steps_by_launches(const StagedTrace& traced, const std::vector<ThreadLaunches>& pass);

}  // namespace nl::analysis
