#include "analysis/figures/detail/detail.h"

#include <fmt/core.h>

#include <algorithm>
#include <future>
#include <tuple>

#include "analysis/account/peer_waits.h"
#include "analysis/figures/detail/bin_recorder.h"
#include "analysis/figures/detail/buckets.h"
#include "analysis/figures/detail/collective_bands.h"
#include "analysis/figures/detail/exact_windows.h"
#include "analysis/figures/detail/lane_table.h"
#include "analysis/figures/detail/slice_tables.h"
#include "analysis/figures/detail/stack_samples.h"
#include "analysis/staging/staged_trace.h"
#include "analysis/trace/gpu_lanes.h"
#include "analysis/trace/gpu_order.h"
#include "analysis/trace/work_origin.h"
#include "model/rank_titles.h"

namespace nl::analysis {
namespace {

constexpr std::uint32_t kLaneBuckets = 100'000, kFewestBuckets = 512;  // of all lanes together, and of one

std::uint32_t buckets_for(std::size_t lanes, std::uint32_t most) {
  const auto fair = static_cast<std::uint32_t>(kLaneBuckets / std::max<std::size_t>(1, lanes));
  return std::min(most, std::max(kFewestBuckets, fair));
}

std::vector<BudgetSpan> spans_of(const std::vector<Window>& windows) {
  std::vector<BudgetSpan> spans;
  for (const Window& window : windows)
    spans.push_back({window.start_ns, window.end_ns, window.end_ns, window.process, window.thread, 0, false});
  return spans;
}

std::string device_title(const Trace& trace, const GpuLane& lane) {
  if (lane.device == kNoDevice) return "a process without GPU work";
  std::string title = fmt::format("GPU {}", lane.device);
  for (const Device& device : trace.devices)
    if (device.id == lane.device && !device.name.empty()) title += fmt::format(" ({})", device.name);
  return trace.processes.size() > 1 ? fmt::format("{} of {}", title, rank_or_process(trace, lane.process)) : title;
}

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

LaneWork lane_work(const CommunicationKernels& communication, const Kernel& kernel) {
  return {kernel.start_ns, kernel.end_ns(), kernel.api, communication.of(kernel), true};
}
LaneWork lane_work(const CommunicationKernels&, const MemOp& op) {
  LaneWork work{op.start_ns, std::max(op.start_ns, op.end_ns), op.api};
  if (op.kind == MemOpKind::kPeerToPeer) work.communication = Collective::kPeerCopy;
  return work;
}
LaneWork lane_work(const CommunicationKernels&, const GraphRun& run) {
  LaneWork work{run.start_ns, std::max(run.start_ns, run.end_ns), run.api};
  work.graph = true;
  return work;
}

// What the GPUs did in each moment.
void add_bins(const Trace& trace, const GpuWorkOrder& order, const GpuLanes& gpus, BudgetSweep& budget, BinRecorder& bins) {
  const CommunicationKernels communication(trace);
  order.visit([&](const auto& row) {
    const LaneWork work = lane_work(communication, row);
    budget.add(gpus.of_queue(row.queue), work);
    bins.add(gpus.of_queue(row.queue), work);
  });
  budget.finish();
  bins.finish();
}

// One pass over the GPUs' work in the order of its start.
class GpuPart {
 public:
  GpuPart(const DetailParts& parts, const Buckets& buckets, const GpuLanes& gpus, std::size_t most_sums)
      : parts_(parts), gpus_(gpus), communication_(parts.trace), kernels_(parts.trace, parts.names),
        kernel_sums_(buckets, std::max(1u, gpus.size()), most_sums), operator_sums_(buckets, std::max(1u, gpus.size()), most_sums) {}

  void operator()(const Kernel& kernel) {
    const std::uint32_t gpu = gpus_.of_queue(kernel.queue);
    const LaneWork work = lane_work(communication_, kernel);
    DetailSlice slice{kernel.start_ns, static_cast<Ns>(kernel.duration_ns)};
    const std::uint32_t named = kernels_.named(kernel.shape);
    kernel_sums_.add(kernel.start_ns, slice.duration_ns, named, gpu);
    slice.name = kernels_.name_of(named);
    const KernelClass kind = kernels_.kind_of(named);
    if (parts_.slices.shows(work.start_ns, work.end_ns)) slice.kernel = kernels_.of(kernel.shape);
    add(kernel.queue, work, slice, kind, origin_of_kernel(parts_.trace, static_cast<std::size_t>(&kernel - parts_.trace.kernels.data())));
  }

  void operator()(const MemOp& op) {
    const LaneWork work = lane_work(communication_, op);
    DetailSlice slice{work.start_ns, work.end_ns - work.start_ns, parts_.names.of(LaneKind::kGpu, StringId{op.label})};
    add(op.queue, work, slice, KernelClass::kCopy,
        origin_of_mem_op(parts_.trace, static_cast<std::size_t>(&op - parts_.trace.mem_ops.data())));
  }

  void operator()(const GraphRun& run) {
    const LaneWork work = lane_work(communication_, run);
    add(run.queue, work, {work.start_ns, work.end_ns - work.start_ns, parts_.names.of(LaneKind::kGpu, StringId{})}, KernelClass::kCopy,
        launch_of(parts_.trace, run.api));
  }

  void put(Detail& detail) {
    detail.overview.kernels = kernel_sums_.take();
    detail.overview.operators = operator_sums_.take();
    detail.kernels = kernels_.take();
  }

 private:
  // `kind`: of copies, sets and whole graphs kCopy, whose colour they have.
  void add(std::uint64_t queue, const LaneWork& work, DetailSlice slice, KernelClass kind, const WorkOrigin& origin) {
    const std::uint32_t gpu = gpus_.of_queue(queue), lane = parts_.lanes.of_queue(queue);
    const WorkOrigin launch = launch_of(parts_.trace, work.api);
    slice.operator_ = parts_.origins.operator_of(origin, launch);
    if (slice.operator_ != kNone) operator_sums_.add(work.start_ns, slice.duration_ns, slice.operator_, gpu);
    if (lane == kNone) return;
    parts_.filling.add(lane, work.start_ns, work.end_ns, slice.name, kind);
    if (!parts_.slices.shows(work.start_ns, work.end_ns)) return;
    slice.layer = parts_.origins.layer_of(origin, launch);
    slice.site = parts_.sites.of(origin);
    parts_.slices.add_work(lane, slice, work.api);
  }

  const DetailParts& parts_;
  const GpuLanes& gpus_;
  CommunicationKernels communication_;
  KernelTable kernels_;
  BucketSummer kernel_sums_, operator_sums_;
};

void add_call(const DetailParts& parts, std::uint32_t lane, const ApiCall& call, bool launches) {
  DetailSlice slice{call.start_ns, static_cast<Ns>(call.duration_ns), parts.names.of(LaneKind::kApi, call.name)};
  parts.filling.add(lane, call.start_ns, call.end_ns(), slice.name);
  if (!parts.slices.shows(call.start_ns, call.end_ns())) return;
  const WorkOrigin origin{static_cast<std::uint32_t>(call.thread), call.start_ns, call.end_ns()};
  slice.operator_ = parts.origins.operator_of(origin, origin);
  slice.layer = parts.origins.layer_of(origin, origin);
  slice.site = parts.sites.of(origin);
  if (launches) parts.slices.add_call(lane, slice, static_cast<std::uint32_t>(&call - parts.trace.api_calls.data()));
  else parts.slices.add(lane, slice);
}

// Both tables of calls, by start.
void add_calls(const DetailParts& parts, std::uint32_t thread) {
  const std::uint32_t lane = parts.lanes.of_calls(thread);
  if (lane == kNone) return;
  const CallsByThread &launches = parts.launches, &others = parts.other_calls;
  std::size_t launch = launches.first(thread), other = others.first(thread);
  while (launch < launches.last(thread) || other < others.last(thread)) {
    const bool first =
        other == others.last(thread) || (launch < launches.last(thread) && launches[launch].start_ns <= others[other].start_ns);
    add_call(parts, lane, first ? launches[launch++] : others[other++], first);
  }
}

// The threads' ranges and CUDA calls, in the order of start.
void add_host_slices(const DetailParts& parts) {
  for (const std::uint32_t i : parts.lanes.ranges_by_start()) {
    const std::uint32_t lane = parts.lanes.of_range(i);
    if (lane == kNone) continue;
    const Range& range = parts.trace.ranges[i];
    const Ns end_ns = std::max(range.start_ns, range.end_ns);
    const DetailSlice slice{range.start_ns, end_ns - range.start_ns, parts.names.of(LaneKind::kRanges, range.name)};
    parts.filling.add(lane, range.start_ns, end_ns, slice.name);
    parts.slices.add(lane, slice);
  }
  for (std::uint32_t i = 0; i < parts.trace.threads.size(); ++i) add_calls(parts, i);
  parts.slices.end_calls();
}

void add_bands(const DetailParts& parts, const CollectiveBands& bands) {
  const auto add = [&](std::uint32_t lane, Ns start_ns, Ns end_ns, const std::string& name) {
    if (lane == kNone) return;
    const DetailSlice slice{start_ns, end_ns - start_ns, parts.names.of(name)};
    parts.filling.add(lane, start_ns, end_ns, slice.name);
    parts.slices.add(lane, slice);
  };
  for (const CollectiveBand& band : bands.list) {
    add(parts.lanes.of_band(band.level), band.start_ns, band.end_ns, band.name);
    if (!band.awaited.empty()) add(parts.lanes.of_band_waits(band.level), band.start_ns, band.all_there_ns, band.awaited);
  }
}

class DetailMaker {
 public:
  DetailMaker(StagedTrace staged, const CaptureSpan& capture, const Spans& cited, const DetailLimits& limits)
      : trace_(staged.trace), limits_(limits), stages_(std::move(staged.table)), windows_(std::move(staged.windows)), capture_(capture) {
    std::stable_sort(windows_.begin(), windows_.end(), [](const Window& a, const Window& b) {
      return std::tuple(a.start_ns, -a.end_ns) < std::tuple(b.start_ns, -b.end_ns);
    });
    exact_ = exact_windows(trace_, capture_, windows_, cited, limits.slices);
  }

  Detail make() {
    const CollectiveBands bands = collective_bands(trace_);
    const LaneTable lanes(trace_, stages_, bands);
    const Buckets buckets(capture_, buckets_for(lanes.lanes().size(), limits_.buckets));
    const GpuWorkOrder order(trace_);
    const GpuLanes gpus(trace_);
    const auto listed = listed_steps(windows_, exact_, limits_.steps / std::max(1u, gpus.size()));
    bins_.emplace(windows_, process_slots(trace_), buckets, exact_, listed);
    BudgetSweep budget(trace_, gpus, spans_of(windows_), 1, {}, &*bins_);
    bins_->set_lanes(budget.lanes());
    put_devices(budget.lanes());
    auto binned = std::async(std::launch::async, [&] { add_bins(trace_, order, gpus, budget, *bins_); });
    NameTable names(trace_);
    Origins origins(trace_, lanes.ranges_by_start());
    const CallsByThread launches(trace_), other_calls(trace_, trace_.other_calls);
    Sites sites(trace_, launches, other_calls, lanes.ranges_by_start());
    LaneFilling filling(buckets, lanes.lanes().size());
    SliceCollector slices(exact_, lanes.lanes().size());
    const DetailParts parts{trace_, launches, other_calls, lanes, names, origins, sites, filling, slices};
    add_bands(parts, bands);
    add_host_slices(parts);
    GpuPart gpu_part(parts, buckets, gpus, limits_.sums);
    order.visit(gpu_part);
    gpu_part.put(detail_);
    binned.get();
    put_steps(listed);
    detail_.overview.bucket_ns = buckets.length_ns();
    detail_.overview.count = buckets.count();
    detail_.overview.lanes = filling.take();
    detail_.lanes = lanes.lanes();
    detail_.lanes_left_out = lanes.lanes_left_out();
    detail_.slices_left_out = lanes.slices_left_out();
    put_windows(slices);
    detail_.samples = listed_samples(trace_, capture_, exact_, limits_.host);
    detail_.operators = origins.take_operators();
    detail_.layers = origins.take_layers();
    detail_.sites = sites.take();
    detail_.sample_period_ns = trace_.host.period_ns;
    detail_.names = names.take();
    detail_.stages = stages_.stages();
    detail_.start_ns = capture_.start_ns;
    detail_.end_ns = capture_.end_ns;
    return std::move(detail_);
  }

 private:
  void put_devices(const std::vector<GpuLane>& lanes) {
    for (const GpuLane& lane : lanes)
      detail_.devices.push_back(
          {lane.device == kNoDevice ? std::nullopt : std::optional(lane.device), lane.pid, device_title(trace_, lane)});
  }

  void put_steps(const std::vector<std::uint32_t>& listed) {
    detail_.steps = list_steps(windows_, listed, exact_);
    detail_.steps_in_all = windows_.size();
    bins_->put_overview(detail_.overview);
    bins_->put_bins(detail_.steps);
  }

  void put_windows(SliceCollector& slices) {
    detail_.windows = slices.take();
    for (std::size_t i = 0; i < detail_.windows.size(); ++i) {
      DetailWindow& window = detail_.windows[i];
      window.whole = window.start_ns <= capture_.start_ns && window.end_ns >= capture_.end_ns;
      for (std::uint32_t lane = 0; lane < detail_.devices.size(); ++lane) window.bins.push_back(bins_->take_intervals(i, lane));
    }
  }

  const Trace& trace_;
  const DetailLimits& limits_;
  StageTable stages_;
  std::vector<Window> windows_;  // by start, longest first
  CaptureSpan capture_;
  Spans exact_;
  std::optional<BinRecorder> bins_;
  Detail detail_;
};

}  // namespace

Detail make_detail(const Trace& trace, const WarmupRule& warmup, const Spans& cited, const DetailLimits& limits) {
  const CaptureSpan capture = capture_span(trace);
  return capture.empty() ? Detail() : DetailMaker(StagedTrace(trace, warmup), capture, cited, limits).make();
}

}  // namespace nl::analysis
