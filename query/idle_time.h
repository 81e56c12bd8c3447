#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "analysis/trace/gpu_lanes.h"
#include "model/stage.h"
#include "model/trace.h"

namespace nl::query {

struct WindowList;

// When GPUs are idle in the windows of the stages, and why: every idle nanosecond of a GPU once, told by the innermost window.
struct IdleStretch {
  Ns start_ns = 0, end_ns = 0;
  std::uint32_t lane = 0;                       // index into IdleTime::lanes
  std::uint32_t window = kNone;                 // of the WindowList
  std::uint32_t before = kNone, after = kNone;  // the work around the whole gap, by its number: see work_number()
  std::uint32_t gap = 0;                        // the idle time between two pieces of work: its stretches have the same number
  BudgetBin bin = BudgetBin::kResidual;
};

class IdleTime {
 public:
  enum class Parts { kBins, kBinsAndGaps };
  IdleTime(const Trace& trace, const WindowList& windows, Parts parts);

  using Bins = std::array<double, kBudgetBins>;
  std::vector<analysis::GpuLane> lanes;
  std::vector<Bins> bins;               // by window: its wall time, the mean of the GPUs of its process
  std::vector<IdleStretch> stretches;   // by start, then GPU
  std::vector<std::pair<Ns, Ns>> gaps;  // by IdleStretch::gap: from the end of the work before to the start of the work after
};

// Kernels, copies and graphs in one row of numbers, in this order.
inline std::uint32_t number_of(const Trace& trace, const Kernel& kernel) {
  return static_cast<std::uint32_t>(&kernel - trace.kernels.data());
}
inline std::uint32_t number_of(const Trace& trace, const MemOp& op) {
  return static_cast<std::uint32_t>(trace.kernels.size() + static_cast<std::size_t>(&op - trace.mem_ops.data()));
}
inline std::uint32_t number_of(const Trace& trace, const GraphRun& run) {
  return static_cast<std::uint32_t>(trace.kernels.size() + trace.mem_ops.size() + static_cast<std::size_t>(&run - trace.graph_runs.data()));
}

}  // namespace nl::query
