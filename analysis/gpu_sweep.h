#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "analysis/stages.h"
#include "model/trace.h"

namespace nl {

// GPU time of a set of intervals that arrive in the order of their start.
struct BusyTime {
  Ns busy_ns = 0;  // of their union
  Ns sum_ns = 0;
  std::uint64_t kernels = 0;

  void add(Ns start_ns, Ns end_ns, bool kernel) {
    sum_ns += end_ns - start_ns;
    kernels += kernel;
    if (end_ns <= covered_until_ns_) return;
    busy_ns += end_ns - (start_ns > covered_until_ns_ ? start_ns : covered_until_ns_);
    covered_until_ns_ = end_ns;
  }

 private:
  Ns covered_until_ns_ = std::numeric_limits<Ns>::min();
};

struct StageTime {
  Ns total_ns = 0;
  std::uint64_t calls = 0;
};

// All launches of one kernel name on one device.
struct KernelGroup {
  StringId name;
  std::int32_t device = 0;
  std::uint32_t shape = kNone;        // one of its shapes, for the other names
  std::uint64_t calls = 0;
  std::uint64_t graph_calls = 0;
  Ns total_ns = 0;
  Ns chosen_ns = 0;                   // inside the chosen stages
  std::vector<StageTime> stages;      // by top-level stage; the last one: in none
};

// What one pass over the GPU's work, in the order of time, finds out.
struct GpuSweep {
  std::vector<BusyTime> by_group;     // range groups of the StageTable
  std::vector<BusyTime> by_stage;
  BusyTime all;
  std::vector<KernelGroup> kernels;
  std::vector<std::uint32_t> kernel_group;  // (shape, device) → index into kernels
  std::vector<std::uint32_t> device_of_queue;
  std::uint32_t device_count = 1;
  Ns kernel_ns = 0, in_stage_ns = 0, unlinked_ns = 0, graph_run_ns = 0;

  std::uint32_t group_of(const Kernel& kernel) const {
    return kernel_group[kernel.shape * std::size_t{device_count} + device_of_queue[kernel.queue]];
  }
};

// `chosen`: stage ids. A kernel belongs to a range if the call that launched it lies inside the range, on
// the range's thread; to its outermost stage range for the split by stage.
GpuSweep sweep_gpu(const Trace& trace, const StageTable& table, const std::vector<std::uint32_t>& chosen);

}  // namespace nl
