#include "analysis/account/gpu_sweep.h"

#include <algorithm>
#include <utility>

namespace nl::analysis {

GpuSweeper::GpuSweeper(const Trace& trace, const StageTable& table, const IterationPlan& plan, const std::vector<Window>& windows,
                       const std::vector<std::uint32_t>& chosen)
    : trace_(trace), surroundings_(trace, table, plan, windows, chosen) {
  sweep_.lanes = GpuLanes(trace);
  sweep_.by_group.resize(table.groups().size());
  sweep_.by_stage.assign(table.stages().size(), std::vector<BusyTime>(sweep_.lanes.size()));
  sweep_.lane_kernel_ns.resize(sweep_.lanes.size());
  std::map<std::int32_t, std::uint32_t> numbers;
  for (const Queue& queue : trace_.queues) {
    const auto [found, added] = numbers.try_emplace(queue.device, static_cast<std::uint32_t>(numbers.size()));
    if (added) sweep_.devices.push_back(queue.device);
    sweep_.device_of_queue.push_back(found->second);
  }
  sweep_.device_count = std::max<std::uint32_t>(1, static_cast<std::uint32_t>(numbers.size()));
  sweep_.devices.resize(sweep_.device_count);
  sweep_.by_device.resize(sweep_.device_count);
  sweep_.device_computing_ns.resize(sweep_.device_count);
  sweep_.kernel_group.assign(trace_.shapes.size() * sweep_.device_count, kNone);
}

const Surroundings& GpuSweeper::add(Ns start_ns, Ns end_ns, std::uint32_t api, std::uint64_t queue, bool kernel) {
  const Surroundings& around = surroundings_.of(api);
  end_ns = std::max(start_ns, end_ns);
  const std::uint32_t device = queue < sweep_.device_of_queue.size() ? sweep_.device_of_queue[static_cast<std::size_t>(queue)] : 0;
  sweep_.by_device[device].add(start_ns, end_ns, kernel);
  for (const std::uint32_t group : around.groups) sweep_.by_group[group].add(start_ns, end_ns, kernel);
  if (!around.stages.empty()) {
    const std::uint32_t lane = sweep_.lanes.of_queue(queue);
    for (const std::uint32_t stage : around.stages) sweep_.by_stage[stage][lane].add(start_ns, end_ns, kernel);
  }
  return around;
}

void GpuSweeper::add(const MemOp& op) { add(op.start_ns, op.end_ns, op.api, op.queue, false); }

void GpuSweeper::add(const GraphRun& run) {
  add(run.start_ns, run.end_ns, run.api, run.queue, false);
  const Ns duration_ns = std::max<Ns>(0, run.end_ns - run.start_ns);
  sweep_.graph_run_ns += duration_ns;
  sweep_.device_computing_ns[run.queue < sweep_.device_of_queue.size() ? sweep_.device_of_queue[run.queue] : 0] += duration_ns;
}

void GpuSweeper::add(const Kernel& kernel) {
  const auto duration_ns = static_cast<Ns>(kernel.duration_ns);
  const Surroundings& around = add(kernel.start_ns, kernel.end_ns(), kernel.api, kernel.queue, true);
  KernelGroup& group = kernel_group(kernel);
  ++group.calls;
  group.graph_calls += kernel.in_graph;
  group.total_ns += duration_ns;
  if (around.chosen) group.chosen_ns += duration_ns;
  StageTime& split = around.top_stage == kNone ? group.stages.back() : group.stages[around.top_stage];
  split.total_ns += duration_ns;
  ++split.calls;
  if (!around.stages.empty()) {
    if (around.chosen) group.chosen_measured_ns += duration_ns;
    group.in_windows.total_ns += duration_ns;
    ++group.in_windows.calls;
  }
  for (const std::uint32_t stage : around.stages) {
    group.measured[stage].total_ns += duration_ns;
    ++group.measured[stage].calls;
  }
  sweep_.kernel_ns += duration_ns;
  sweep_.device_computing_ns[sweep_.device_of_queue[kernel.queue]] += duration_ns;
  sweep_.lane_kernel_ns[sweep_.lanes.of_queue(kernel.queue)] += duration_ns;
  if (around.top_stage != kNone) sweep_.in_stage_ns += duration_ns;
  if (kernel.api == kNone) sweep_.unlinked_ns += duration_ns;
}

KernelGroup& GpuSweeper::kernel_group(const Kernel& kernel) {
  const std::uint32_t device = sweep_.device_of_queue[kernel.queue];
  std::uint32_t& id = sweep_.kernel_group[kernel.shape * std::size_t{sweep_.device_count} + device];
  if (id == kNone) {
    const StringId name = trace_.shapes[kernel.shape].name;
    const auto [found, added] = group_ids_.try_emplace(std::pair(name, device), static_cast<std::uint32_t>(sweep_.kernels.size()));
    id = found->second;
    if (added) {
      KernelGroup group;
      group.name = name;
      group.device = trace_.queues[kernel.queue].device;
      group.shape = kernel.shape;
      group.stages.resize(sweep_.by_stage.size() + 1);
      group.measured.resize(sweep_.by_stage.size());
      sweep_.kernels.push_back(std::move(group));
    }
  }
  return sweep_.kernels[id];
}

}  // namespace nl::analysis
