#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "analysis/staging/stage_table.h"
#include "analysis/staging/surroundings.h"
#include "analysis/trace/covered_time.h"
#include "analysis/trace/gpu_lanes.h"
#include "model/trace.h"

namespace nl::analysis {

// GPU time of a set of intervals that arrive in the order of their start.
struct BusyTime {
  Ns sum_ns = 0;
  std::uint64_t kernels = 0;

  void add(Ns start_ns, Ns end_ns, bool kernel) {
    sum_ns += end_ns - start_ns;
    kernels += kernel;
    covered_.add(start_ns, end_ns);
  }
  Ns busy_ns() const { return covered_.total_ns(); }  // of their union

 private:
  CoveredTime covered_;
};

struct StageTime {
  Ns total_ns = 0;
  std::uint64_t calls = 0;
};

// All launches of one kernel name on one device.
struct KernelGroup {
  StringId name;
  std::int32_t device = 0;
  std::uint32_t shape = kNone;  // one of its shapes, for the other names
  std::uint64_t calls = 0;
  std::uint64_t graph_calls = 0;
  Ns total_ns = 0;
  Ns chosen_ns = 0;                 // inside the chosen stages,
  Ns chosen_measured_ns = 0;        // and of it, in measured windows
  std::vector<StageTime> stages;    // by top-level stage; the last one: in none
  std::vector<StageTime> measured;  // by every stage around the launch, without warm-up
  StageTime in_windows;             // in any measured window, each launch once
};

// What one pass over the GPU's work, in the order of time, finds out.
struct GpuSweep {
  GpuLanes lanes;
  std::vector<BusyTime> by_group;               // range groups of the StageTable; of all GPUs together
  std::vector<std::vector<BusyTime>> by_stage;  // and by lane
  std::vector<BusyTime> by_device;              // by the number of the device
  std::vector<KernelGroup> kernels;
  std::vector<std::uint32_t> kernel_group;     // (shape, device) → index into kernels
  std::vector<std::uint32_t> device_of_queue;  // the number of its device,
  std::vector<std::int32_t> devices;           // and the device of a number
  std::uint32_t device_count = 1;
  Ns kernel_ns = 0, in_stage_ns = 0, unlinked_ns = 0, graph_run_ns = 0;
  std::vector<Ns> device_computing_ns;  // kernels, and graphs captured at graph level: by the number of the device;
  std::vector<Ns> lane_kernel_ns;       // kernels by lane

  Ns computing_ns_of(std::int32_t device) const {
    for (std::size_t i = 0; i < devices.size(); ++i)
      if (devices[i] == device) return device_computing_ns[i];
    return 0;
  }
  std::uint32_t group_of(const Kernel& kernel) const {
    return kernel_group[kernel.shape * std::size_t{device_count} + device_of_queue[kernel.queue]];
  }
};

// Fed with all GPU work in the order of its start. A kernel belongs to a range if the call that launched it lies
// inside the range, on the range's thread; to its outermost stage range for the split by stage. `chosen`: stage ids.
// by_stage leaves warm-up iterations out; everything else counts them.
class GpuSweeper {
 public:
  GpuSweeper(const Trace& trace, const StageTable& table, const IterationPlan& plan, const std::vector<Window>& windows,
             const std::vector<std::uint32_t>& chosen);

  void add(const Kernel& kernel);
  void add(const MemOp& op);
  void add(const GraphRun& run);
  GpuSweep& result() { return sweep_; }

 private:
  const Surroundings& add(Ns start_ns, Ns end_ns, std::uint32_t api, std::uint64_t queue, bool kernel);
  KernelGroup& kernel_group(const Kernel& kernel);

  const Trace& trace_;
  SurroundingsCache surroundings_;
  std::map<std::pair<StringId, std::uint32_t>, std::uint32_t> group_ids_;
  GpuSweep sweep_;
};

}  // namespace nl::analysis
