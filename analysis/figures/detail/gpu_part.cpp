#include "analysis/figures/detail/gpu_part.h"

#include <algorithm>

#include "analysis/trace/kernel_class.h"
#include "analysis/trace/work_origin.h"

namespace nl::analysis {

std::uint32_t KernelTable::of(std::uint32_t shape) {
  std::uint32_t& known = of_shape_[shape];
  if (known != kNone) return known;
  known = static_cast<std::uint32_t>(kernels_.size());
  const KernelShape& from = trace_.shapes[shape];
  const std::string& name = trace_.strings[from.name];
  const auto same = of_name_.find(from.name.value);  // a long name is looked at once, whatever its launches are like
  const KernelClass kind = same != of_name_.end() ? kernels_[same->second].kind : classify_kernel(name);
  kernels_.push_back({names_.of(name), kind, from.grid, from.block, from.registers_per_thread,
                      std::uint64_t{from.static_shared_bytes} + from.dynamic_shared_bytes});
  of_name_.try_emplace(from.name.value, known);
  return known;
}

std::uint32_t KernelTable::named(std::uint32_t shape) {
  const auto found = of_name_.find(trace_.shapes[shape].name.value);
  return found != of_name_.end() ? found->second : of(shape);
}

GpuPart::GpuPart(const DetailParts& parts, const Buckets& buckets, const GpuLanes& gpus, BudgetSweep& budget, BinRecorder& bins,
                 std::size_t most_sums)
    : parts_(parts), gpus_(gpus), budget_(budget), bins_(bins), communication_(parts.trace), kernels_(parts.trace, parts.names),
      kernel_sums_(buckets, std::max(1u, gpus.size()), most_sums), operator_sums_(buckets, std::max(1u, gpus.size()), most_sums) {}

void GpuPart::add(std::uint64_t queue, const LaneWork& work, DetailSlice slice, const WorkOrigin& origin) {
  const std::uint32_t gpu = gpus_.of_queue(queue), lane = parts_.lanes.of_queue(queue);
  budget_.add(gpu, work);
  bins_.add(gpu, work);
  const WorkOrigin launch = launch_of(parts_.trace, work.api);
  slice.operator_ = parts_.origins.operator_of(origin, launch);
  if (slice.operator_ != kNone) operator_sums_.add(work.start_ns, slice.duration_ns, slice.operator_, gpu);
  if (lane == kNone) return;
  parts_.filling.add(lane, work.start_ns, work.end_ns, slice.name);
  if (!parts_.slices.shows(work.start_ns, work.end_ns)) return;
  slice.layer = parts_.origins.layer_of(origin, launch);
  slice.site = parts_.sites.of(origin);
  parts_.slices.add_work(lane, slice, work.api);
}

void GpuPart::operator()(const Kernel& kernel) {
  const std::uint32_t gpu = gpus_.of_queue(kernel.queue);
  const LaneWork work{kernel.start_ns, kernel.end_ns(), kernel.api, communication_.of(kernel), true};
  DetailSlice slice{kernel.start_ns, static_cast<Ns>(kernel.duration_ns)};
  const std::uint32_t named = kernels_.named(kernel.shape);
  kernel_sums_.add(kernel.start_ns, slice.duration_ns, named, gpu);
  slice.name = kernels_.name_of(named);
  if (parts_.slices.shows(work.start_ns, work.end_ns)) slice.kernel = kernels_.of(kernel.shape);
  add(kernel.queue, work, slice, origin_of_kernel(parts_.trace, static_cast<std::size_t>(&kernel - parts_.trace.kernels.data())));
}

void GpuPart::operator()(const MemOp& op) {
  LaneWork work{op.start_ns, std::max(op.start_ns, op.end_ns), op.api};
  if (op.kind == MemOpKind::kPeerToPeer) work.communication = Collective::kPeerCopy;
  DetailSlice slice{work.start_ns, work.end_ns - work.start_ns, parts_.names.of(LaneKind::kGpu, StringId{op.label})};
  add(op.queue, work, slice, origin_of_mem_op(parts_.trace, static_cast<std::size_t>(&op - parts_.trace.mem_ops.data())));
}

void GpuPart::operator()(const GraphRun& run) {
  LaneWork work{run.start_ns, std::max(run.start_ns, run.end_ns), run.api};
  work.graph = true;
  add(run.queue, work, {work.start_ns, work.end_ns - work.start_ns, parts_.names.of(LaneKind::kGpu, StringId{})},
      launch_of(parts_.trace, run.api));
}

void GpuPart::put(Detail& detail) {
  detail.overview.kernels = kernel_sums_.take();
  detail.overview.operators = operator_sums_.take();
  detail.kernels = kernels_.take();
}

}  // namespace nl::analysis
