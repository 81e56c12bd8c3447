#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "analysis/trace/work_origin.h"
#include "model/operator.h"
#include "model/trace.h"

// Host and GPU time of kinds of ranges: operators with their shapes, or layers.
namespace nl::analysis {

// Which ranges count, and as what. An item is a name with a shape; several items make up one group.
struct RangeItems {
  std::vector<std::uint32_t> item_of_range;  // by range; kNone: it does not count
  std::vector<std::uint32_t> group_of_item;
  std::uint32_t groups = 0;
  std::uint64_t left_out = 0;  // never closed, or closed by another thread
};

inline constexpr std::uint32_t kGraphName = kNone;  // stands for a CUDA graph that was captured at graph level

struct GpuWork {
  std::uint64_t calls = 0;
  Ns total_ns = 0;
};

// Total is the union per thread: a range inside one of its own kind counts once, and so does a kernel.
struct ItemTime {
  std::uint64_t calls = 0;
  Ns total_ns = 0;
  Ns cuda_total_ns = 0;  // launched or captured inside at any depth
};

struct GroupTime : ItemTime {
  Ns self_ns = 0;                                                           // without the counted ranges inside
  Ns cuda_self_ns = 0;                                                      // launched with no counted range further in
  std::unordered_map<std::uint32_t, GpuWork> kernels;                       // launched inside, by name or kGraphName
  std::unordered_map<std::uint32_t, Ns> stage_self_ns, stage_cuda_self_ns;  // by stage, kNone: in none
};

struct RangeTally {
  std::vector<ItemTime> items;
  std::vector<GroupTime> groups;
  std::vector<std::string> stages;
  Ns cuda_ns = 0;          // launched inside any counted range
  Ns capture_cuda_ns = 0;  // all GPU work of the capture
};

// False for a range that was never closed, or closed by another thread: it has no time that could be counted.
bool is_countable(const Trace& trace, const Range& range);

// Work belongs to the ranges around its launch and, from a CUDA graph, to those around the making of its node inside them; its
// stage is that of the launch. Ranges never closed or closed by another thread must be left out of `items` (kNone). One pass over the
// GPU's work, whose cost does not depend on how many ranges there are while calls stay between the same two.
RangeTally tally_ranges(const Trace& trace, const RangeItems& items);
// Only the host times of such a tally.
RangeTally tally_host_ranges(const Trace& trace, const RangeItems& items);

// The place of a stage in the list, to which it is added where it is new. Decode steps are part of decode, as in every split by stage.
std::uint32_t number_of_stage(std::vector<std::string>& stages, std::string stage);

// Groups that have calls, the one with the most GPU time of its own first; ties by host time, then name.
std::vector<std::uint32_t> by_time(const RangeTally& tally, const std::vector<std::string>& names);

// The kernels, copies and sets with the most time that were launched inside.
std::vector<OperatorKernel> top_work(const Trace& trace, const GroupTime& time, std::size_t top);

// A kernel, a copy or set, or a CUDA graph that was captured at graph level.
struct WorkRow {
  std::uint32_t name = 0;       // of Trace::strings, or kGraphName
  std::uint32_t shape = kNone;  // of Trace::shapes: a kernel
  std::uint64_t bytes = 0;      // of a copy or set
  Ns duration_ns = 0;
  WorkOrigin launch, origin;  // what says its stage, and what says its operator
};

template <class Visit>
void visit_work(const Trace& trace, Visit visit) {
  for (std::size_t i = 0; i < trace.kernels.size(); ++i) {
    const Kernel& kernel = trace.kernels[i];
    if (kernel.shape >= trace.shapes.size()) continue;
    visit(WorkRow{trace.shapes[kernel.shape].name.value, kernel.shape, 0, static_cast<Ns>(kernel.duration_ns), launch_of(trace, kernel.api),
                  origin_of_kernel(trace, i)});
  }
  for (std::size_t i = 0; i < trace.mem_ops.size(); ++i) {
    const MemOp& op = trace.mem_ops[i];
    visit(WorkRow{op.label, kNone, op.bytes, op.end_ns - op.start_ns, launch_of(trace, op.api), origin_of_mem_op(trace, i)});
  }
  for (const GraphRun& run : trace.graph_runs) {
    const WorkOrigin launch = launch_of(trace, run.api);
    visit(WorkRow{kGraphName, kNone, 0, run.end_ns - run.start_ns, launch, launch});
  }
}

inline std::string name_of_work(const Trace& trace, std::uint32_t name) {
  return name == kGraphName ? std::string("(CUDA graph)") : trace.strings[StringId{name}];
}

}  // namespace nl::analysis
