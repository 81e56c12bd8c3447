#pragma once

#include <cstdint>
#include <vector>

#include "analysis/trace/covered_time.h"
#include "model/detail.h"

namespace nl::analysis {

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
