#pragma once

#include <algorithm>
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

// The first of the stretches that ends after the time.
inline Spans::const_iterator first_ending_after(const Spans& exact, Ns time_ns) {
  return std::upper_bound(exact.begin(), exact.end(), time_ns, [](Ns time, const auto& span) { return time < span.second; });
}

// The windows of stages as steps. `listed`: by window, its place in the list or kNone.
std::vector<DetailStep> list_steps(const std::vector<Window>& windows, const std::vector<std::uint32_t>& listed, const Spans& exact);
// At most about `most` of them, evenly, and all that lie in exact windows.
std::vector<std::uint32_t> listed_steps(const std::vector<Window>& windows, const Spans& exact, std::size_t most);

// The slices of the exact windows. Those of a lane come in the order of their start; the calls before the GPU's work that they
// launched.
class SliceCollector {
 public:
  SliceCollector(const Spans& exact, std::size_t lanes);

  bool shows(Ns start_ns, Ns end_ns) const;
  void add(std::uint32_t lane, const DetailSlice& slice);
  void add_call(std::uint32_t lane, const DetailSlice& slice, std::uint32_t api);
  void end_calls();
  void add_work(std::uint32_t lane, DetailSlice slice, std::uint32_t api);
  // Lanes without slices are left out.
  std::vector<DetailWindow> take();

 private:
  struct Call {
    std::uint32_t api = 0;  // index into Trace::api_calls
    std::uint32_t lane = 0, slice = 0;
  };
  struct Shown {
    std::vector<DetailSlices> lanes;  // all of them
    std::vector<Call> calls;          // once all are there: by `api`
  };
  // visit(window, the slices of the lane)
  template <class Visit>
  void each(std::uint32_t lane, const DetailSlice& slice, Visit visit);

  const Spans& exact_;
  std::vector<Shown> windows_;
};

}  // namespace nl::analysis
