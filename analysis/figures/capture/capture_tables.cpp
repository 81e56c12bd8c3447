#include "analysis/figures/capture/capture_tables.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>

#include "analysis/account/gpu_mean.h"
#include "analysis/statistics/time_summary.h"
#include "analysis/trace/gpu_lanes.h"
#include "analysis/trace/work_origin.h"
#include "model/cuda_calls.h"

namespace nl::analysis {
namespace {

// PyTorch's operator ranges carry a running number, so that every call has a name of its own.
constexpr std::size_t kMaxRangeNames = 2000;

// The mean leaves out GPUs that did nothing.
Ns mean_busy_ns(const GpuSweep& sweep) {
  Ns sum = 0, gpus = 0;
  for (const BusyTime& device : sweep.by_device) {
    sum += device.busy_ns();
    gpus += device.busy_ns() > 0;
  }
  return gpus > 0 ? sum / gpus : 0;
}

void add_devices(const GpuPass& pass, CoverageFigures& figures) {
  for (std::uint32_t i = 0; i < pass.sweep.lanes.size(); ++i) {
    const GpuLane& lane = pass.sweep.lanes[i];
    const LaneTotal& total = pass.budgets.totals[i];
    figures.coverage.devices.push_back(
        {lane.device, lane.pid, total.busy_ns, pass.sweep.lane_kernel_ns[i], total.communication_ns, total.overlapped_communication_ns});
    for (Communication& each : communication_of(lane, total.communication)) figures.communication.push_back(each);
  }
  sort_by_gpu(figures.coverage.devices);
  sort_by_gpu(figures.communication);
}

}  // namespace

std::vector<Device> gpus_of(const Trace& trace) {
  std::vector<Device> gpus = trace.devices;
  for (const std::int32_t id : GpuLanes(trace).devices()) {
    const bool known = std::any_of(gpus.begin(), gpus.end(), [&](const Device& gpu) { return gpu.id == id; });
    if (!known) gpus.emplace_back().id = id;
  }
  return gpus;
}

std::vector<ApiEntry> api_entries(const Trace& trace) {
  std::vector<ApiEntry> entries;
  std::map<std::string_view, std::vector<const Durations*>> functions;
  for (const ApiStat& stat : trace.api_stats)
    if (stat.durations.count() > 0) functions[without_api_version(trace.strings[stat.name])].push_back(&stat.durations);
  for (const auto& [name, parts] : functions) {
    Durations together;
    for (std::size_t i = 0; i < parts.size() && parts.size() > 1; ++i) together.append(Durations(*parts[i]));
    entries.push_back({std::string(name), summarise_times(parts.size() > 1 ? together : *parts.front())});
  }
  std::sort(entries.begin(), entries.end(), [](const ApiEntry& a, const ApiEntry& b) {
    return std::tuple(-a.time.total_ns, std::string_view(a.name)) < std::tuple(-b.time.total_ns, std::string_view(b.name));
  });
  return entries;
}

RangeList range_entries(const StagedTrace& staged, const GpuSweep& sweep) {
  const Trace& trace = staged.trace;
  const StageTable& table = staged.table;
  RangeList list;
  const auto walls = table.group_walls(trace);
  std::vector<std::uint32_t> order;  // of the workload's own ranges; stages that nl-stage found do not count
  for (std::uint32_t i = 0; i < walls.size(); ++i)
    if (trace.strings[table.groups()[i].domain] != kStageDomain) order.push_back(i);
  const auto rank = [&](std::uint32_t i) {
    const auto& group = table.groups()[i];
    return std::tuple(-walls[i].total_ns, std::string_view(trace.strings[group.domain]), std::string_view(trace.strings[group.name]),
                      group.style);
  };
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return rank(a) < rank(b); });
  if (order.size() > kMaxRangeNames) {
    list.note = Remark{Code::kRangesNotListed, {std::to_string(order.size()), std::to_string(kMaxRangeNames)}};
    order.resize(kMaxRangeNames);
  }
  for (const std::uint32_t i : order) {
    const auto& group = table.groups()[i];
    RangeEntry entry{trace.strings[group.domain], trace.strings[group.name], group.style, walls[i], {}, {}};
    if (trace.has_kernel_data || trace.has_mem_data) entry.gpu_busy_ns = sweep.by_group[i].busy_ns();
    if (trace.has_kernel_data) entry.kernel_calls = sweep.by_group[i].kernels;
    list.ranges.push_back(std::move(entry));
  }
  return list;
}

std::optional<Remark> backward_ranges(const Trace& trace) {
  const auto backward = std::count_if(trace.ranges.begin(), trace.ranges.end(),
                                      [](const Range& range) { return !range.open && range.end_ns < range.start_ns; });
  if (backward == 0) return std::nullopt;
  return Remark{Code::kBackwardRanges, {std::to_string(backward)}};
}

CoverageFigures coverage_of(const Trace& trace, const GpuPass& pass) {
  CoverageFigures figures;
  Coverage& coverage = figures.coverage;
  const GpuSweep& sweep = pass.sweep;
  if (trace.has_kernel_data || trace.has_mem_data) {
    coverage.gpu_busy_ns = mean_busy_ns(sweep);
    add_devices(pass, figures);
  }
  if (!trace.has_kernel_data) return figures;
  coverage.kernel_sum_ns = sweep.kernel_ns;
  const auto share = [](Ns part, Ns whole) -> std::optional<double> {
    if (whole <= 0) return std::nullopt;
    return static_cast<double>(part) / static_cast<double>(whole);
  };
  coverage.in_stage_share = share(sweep.in_stage_ns, sweep.kernel_ns);
  coverage.unlinked_share = share(sweep.unlinked_ns, sweep.kernel_ns);
  coverage.graph_only_share = share(sweep.graph_run_ns, sweep.kernel_ns + sweep.graph_run_ns);
  coverage.graph_unjoined_share = graph_unjoined_share(trace);
  return figures;
}

}  // namespace nl::analysis
