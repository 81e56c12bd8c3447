#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "analysis/trace/gpu_lanes.h"
#include "model/trace.h"

namespace nl::analysis {

// What one GPU of a process computes, and when it leaves its collectives.
class LaneTimes {
 public:
  void add_compute(Ns start_ns, Ns end_ns, std::uint32_t name);  // by start
  void add_collective(Ns start_ns, Ns end_ns);                   // by start

  // When it left the last collective that began before that time; nothing: none did.
  std::optional<Ns> left_before(Ns time_ns) const;
  Ns busy_ns(Ns start_ns, Ns end_ns) const;
  Ns middle_of_longest_gap(Ns start_ns, Ns end_ns) const;
  // visit(name, time in the stretch)
  template <class Visit>
  void each_kernel(Ns start_ns, Ns end_ns, Visit visit) const {
    for (std::size_t i = first_reaching(start_ns); i < kernels_.size() && kernels_[i].start_ns < end_ns; ++i)
      if (const Ns time_ns = std::min(kernels_[i].end_ns, end_ns) - std::max(kernels_[i].start_ns, start_ns); time_ns > 0)
        visit(kernels_[i].name, time_ns);
  }

 private:
  struct Kernel {
    Ns start_ns = 0, end_ns = 0;
    Ns latest_end_ns = 0;   // of it and all before
    Ns busy_before_ns = 0;  // union of all before
    std::uint32_t name = 0;
  };
  std::size_t first_reaching(Ns time_ns) const;  // the first that no earlier one outlasts and that ends after it
  Ns busy_until(Ns time_ns) const;

  std::vector<Kernel> kernels_;
  std::vector<std::pair<Ns, Ns>> left_;  // start of a collective, latest end of it and all before
};

std::vector<LaneTimes> lane_times(const Trace& trace, const GpuLanes& lanes);

}  // namespace nl::analysis
