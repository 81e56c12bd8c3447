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

// What one GPU of a process computes, and when it leaves its collectives. The trace must outlive it.
class LaneTimes {
 public:
  explicit LaneTimes(const Trace& trace) : trace_(&trace) {}
  void add_compute(std::uint32_t kernel);       // by start
  void add_collective(Ns start_ns, Ns end_ns);  // by start

  // When it left the last collective that began before that time; nothing: none did.
  std::optional<Ns> left_before(Ns time_ns) const;
  Ns busy_ns(Ns start_ns, Ns end_ns) const;
  Ns middle_of_longest_gap(Ns start_ns, Ns end_ns) const;
  // visit(name, time in the stretch)
  template <class Visit>
  void each_kernel(Ns start_ns, Ns end_ns, Visit visit) const {
    for (std::size_t i = first_reaching(start_ns); i < kernels_.size() && row(i).start_ns < end_ns; ++i)
      if (const Ns time_ns = std::min(row(i).end_ns(), end_ns) - std::max(row(i).start_ns, start_ns); time_ns > 0)
        visit(name_of(row(i)), time_ns);
  }

 private:
  // What the kernels before one of them took. Kept of one in so many, because a lane may have millions.
  struct Before {
    Ns latest_end_ns = 0;
    Ns busy_ns = 0;  // their union
    void add(const Kernel& kernel);
  };
  static constexpr std::size_t kEvery = 32;

  const Kernel& row(std::size_t i) const { return trace_->kernels[kernels_[i]]; }
  std::uint32_t name_of(const Kernel& kernel) const {
    return kernel.shape < trace_->shapes.size() ? trace_->shapes[kernel.shape].name.value : 0;
  }
  std::size_t first_reaching(Ns time_ns) const;  // the first that no earlier one outlasts and that ends after it
  Ns busy_until(Ns time_ns) const;

  const Trace* trace_;
  std::vector<std::uint32_t> kernels_;  // by start
  std::vector<Before> before_;          // of kernel 0, kEvery, 2 kEvery …
  Before all_;
  std::vector<std::pair<Ns, Ns>> left_;  // start of a collective, latest end of it and all before
};

std::vector<LaneTimes> lane_times(const Trace& trace, const GpuLanes& lanes);

}  // namespace nl::analysis
