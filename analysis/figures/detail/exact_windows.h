#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analysis/staging/windows.h"
#include "analysis/trace/covered_time.h"
#include "model/detail.h"
#include "model/trace.h"

namespace nl::analysis {

// The time from the first to the last thing that the capture has.
struct CaptureSpan {
  Ns start_ns = 0, end_ns = 0;
  bool empty() const { return end_ns <= start_ns; }
};
CaptureSpan capture_span(const Trace& trace);

// The stretches of time in which every slice is listed, by start and disjoint. All of the capture where it has at most
// `most_slices`. Else the cited moments first; then of each stage its first, median and slowest measured window; then others
// of the stages' windows, evenly, as long as there is room. At most 400.
Spans exact_windows(const Trace& trace, const CaptureSpan& capture, const std::vector<Window>& windows, const Spans& cited,
                    std::size_t most_slices);

// The windows of stages as steps. `listed`: by window, its place in the list or kNone.
std::vector<DetailStep> list_steps(const std::vector<Window>& windows, const std::vector<std::uint32_t>& listed, const Spans& exact);
// At most about `most` of them, evenly, and all that lie in exact windows.
std::vector<std::uint32_t> listed_steps(const std::vector<Window>& windows, const Spans& exact, std::size_t most);

}  // namespace nl::analysis
