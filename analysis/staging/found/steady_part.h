#pragma once

#include <cstdint>
#include <vector>

#include "model/trace.h"

namespace nl::analysis {

// Of one process: the time that is left where its start-up and warm-up are not counted.
struct SteadyPart {
  Ns start_ns = 0, end_ns = 0;   // until the end of its last work on a GPU
  Ns first_work_ns = 0;          // where that work began
  std::uint32_t thread = kNone;  // that launches the most
  bool warmed_up = false;        // the start is where every kernel that matters had run once; false: the first work
};

// A kernel that runs for the first time is loaded, and often chosen or tuned before: the steady part begins where all kernels but
// for a hundredth of the time have run once. Where less than a third of the kernel time would be left, nothing is left out.
// One for each process with work on a GPU, in the order of the trace.
std::vector<SteadyPart> find_steady_parts(const Trace& trace);

}  // namespace nl::analysis
