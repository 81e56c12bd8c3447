#include "analysis/trace/gpu_lanes.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "analysis/trace/gpu_order.h"

namespace nl::analysis {
namespace {

// The last one: a queue that is not in the trace.
std::vector<bool> used_queues(const Trace& trace) {
  std::vector<bool> used(trace.queues.size() + 1, false);
  each_gpu_work(trace, [&](const auto& work) { used[std::min<std::uint64_t>(work.queue, trace.queues.size())] = true; });
  return used;
}

}  // namespace

GpuLanes::GpuLanes(const Trace& trace) : of_queue_(trace.queues.size(), kNone) {
  const std::vector<bool> used = used_queues(trace);
  const auto place_of = [&](std::size_t queue) {
    const std::size_t known = queue < trace.queues.size() ? queue : 0;
    return std::pair(process_slot_of_queue(trace, queue), trace.queues.empty() ? 0 : trace.queues[known].device);
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
