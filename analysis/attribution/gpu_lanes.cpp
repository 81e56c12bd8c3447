#include "analysis/attribution/gpu_lanes.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "analysis/stages/windows.h"

namespace nl::analysis {
namespace {

// The last one: a queue that is not in the trace.
std::vector<bool> used_queues(const Trace& trace) {
  std::vector<bool> used(trace.queues.size() + 1, false);
  const auto use = [&](std::uint64_t queue) { used[std::min<std::uint64_t>(queue, trace.queues.size())] = true; };
  for (const Kernel& kernel : trace.kernels) use(kernel.queue);
  for (const MemOp& op : trace.mem_ops) use(op.queue);
  for (const GraphRun& run : trace.graph_runs) use(run.queue);
  return used;
}

}  // namespace

GpuLanes::GpuLanes(const Trace& trace) : of_queue_(trace.queues.size(), kNone) {
  const std::vector<bool> used = used_queues(trace);
  const auto place_of = [&](std::size_t queue) {
    if (queue < trace.queues.size())
      return std::pair(process_slot(trace, trace.queues[queue].process), trace.queues[queue].device);
    return std::pair(process_slot(trace, kNone), trace.queues.empty() ? 0 : trace.queues.front().device);
  };
  std::map<std::pair<std::uint32_t, std::int32_t>, std::uint32_t> numbers;
  for (std::size_t i = 0; i < used.size(); ++i)
    if (used[i]) numbers.try_emplace(place_of(i), 0u);
  for (auto& [place, number] : numbers) {
    number = size();
    const std::uint32_t process = place.first;
    lanes_.push_back({process, process < trace.processes.size() ? trace.processes[process].pid : 0, place.second});
  }
  for (std::size_t i = 0; i < trace.queues.size(); ++i)
    if (used[i]) of_queue_[i] = numbers[place_of(i)];
  if (used.back()) unknown_ = numbers[place_of(trace.queues.size())];
}

std::vector<std::int32_t> GpuLanes::devices() const {
  std::set<std::int32_t> all;
  for (const GpuLane& lane : lanes_) all.insert(lane.device);
  return {all.begin(), all.end()};
}

}  // namespace nl::analysis
