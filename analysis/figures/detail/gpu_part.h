#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "analysis/account/peer_waits.h"
#include "analysis/figures/detail/bin_recorder.h"
#include "analysis/figures/detail/bucket_sums.h"
#include "analysis/figures/detail/lane_table.h"
#include "analysis/figures/detail/name_table.h"
#include "analysis/figures/detail/origins.h"
#include "analysis/figures/detail/sites.h"
#include "analysis/figures/detail/slices.h"
#include "analysis/trace/gpu_lanes.h"

namespace nl::analysis {

// The kernels by name and launch configuration, those that are asked for.
class KernelTable {
 public:
  KernelTable(const Trace& trace, NameTable& names) : trace_(trace), names_(names), of_shape_(trace.shapes.size(), kNone) {}
  std::uint32_t of(std::uint32_t shape);
  // The first of its name.
  std::uint32_t named(std::uint32_t shape);
  std::uint32_t name_of(std::uint32_t kernel) const { return kernels_[kernel].name; }
  std::vector<DetailKernel> take() { return std::move(kernels_); }

 private:
  const Trace& trace_;
  NameTable& names_;
  std::vector<std::uint32_t> of_shape_;
  std::unordered_map<std::uint32_t, std::uint32_t> of_name_;
  std::vector<DetailKernel> kernels_;
};

// Where the parts of the detail are collected.
struct DetailParts {
  const Trace& trace;
  const CallsByThread &launches, &other_calls;
  const LaneTable& lanes;
  NameTable& names;
  Origins& origins;
  Sites& sites;
  LaneFilling& filling;
  SliceCollector& slices;
};

// One pass over the GPUs' work in the order of its start.
class GpuPart {
 public:
  GpuPart(const DetailParts& parts, const Buckets& buckets, const GpuLanes& gpus, BudgetSweep& budget, BinRecorder& bins,
          std::size_t most_sums);

  void operator()(const Kernel& kernel);
  void operator()(const MemOp& op);
  void operator()(const GraphRun& run);
  void put(Detail& detail);

 private:
  void add(std::uint64_t queue, const LaneWork& work, DetailSlice slice, const WorkOrigin& origin);

  const DetailParts& parts_;
  const GpuLanes& gpus_;
  BudgetSweep& budget_;
  BinRecorder& bins_;
  CommunicationKernels communication_;
  KernelTable kernels_;
  BucketSummer kernel_sums_, operator_sums_;
};

}  // namespace nl::analysis
