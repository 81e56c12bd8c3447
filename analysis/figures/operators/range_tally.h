#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

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

inline constexpr std::uint32_t kGraphName = kNone;  // stands for a CUDA graph that was traced as a whole

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

bool is_never_closed(const Trace& trace, const Range& range);

// Work belongs to the ranges around its launch and, from a CUDA graph, to those around the making of its node inside them; its
// stage is that of the launch. Ranges never closed or closed by another thread must be left out of `items` (kNone). One pass over the
// GPU's work, whose cost does not depend on how many ranges there are while calls stay between the same two.
RangeTally tally_ranges(const Trace& trace, const RangeItems& items);
// The host's part of it alone.
RangeTally tally_host_ranges(const Trace& trace, const RangeItems& items);

}  // namespace nl::analysis
