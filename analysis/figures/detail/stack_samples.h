#pragma once

#include "analysis/figures/detail/exact_windows.h"
#include "analysis/trace/covered_time.h"
#include "model/detail.h"
#include "model/trace.h"

namespace nl::analysis {

struct SampleLimits {
  std::size_t samples = 40'000;
  std::size_t nodes = 20'000;  // of the tree of stacks: what would not fit ends at a frame further out
};

// The sampled stacks of the capture, by thread. Threads that the trace lists come first, in its order.
DetailSamples listed_samples(const Trace& trace, const CaptureSpan& capture, const Spans& exact, const SampleLimits& limits);

}  // namespace nl::analysis
