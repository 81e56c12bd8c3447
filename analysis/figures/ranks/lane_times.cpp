#include "analysis/figures/ranks/lane_times.h"

#include <algorithm>

#include "analysis/trace/communication_kernels.h"
#include "analysis/trace/gpu_order.h"

namespace nl::analysis {

void LaneTimes::add_compute(Ns start_ns, Ns end_ns, std::uint32_t name) {
  const Ns before_ns = kernels_.empty() ? end_ns : kernels_.back().latest_end_ns, latest_ns = std::max(end_ns, before_ns);
  const Ns busy_before_ns = busy_until(latest_ns);
  kernels_.push_back({start_ns, end_ns, latest_ns, busy_before_ns, name});
}

void LaneTimes::add_collective(Ns start_ns, Ns end_ns) {
  left_.emplace_back(start_ns, left_.empty() ? end_ns : std::max(end_ns, left_.back().second));
}

std::optional<Ns> LaneTimes::left_before(Ns time_ns) const {
  const auto after = std::lower_bound(left_.begin(), left_.end(), time_ns, [](const auto& each, Ns time) { return each.first < time; });
  return after == left_.begin() ? std::nullopt : std::optional(std::prev(after)->second);
}

std::size_t LaneTimes::first_reaching(Ns time_ns) const {
  const auto found = std::lower_bound(kernels_.begin(), kernels_.end(), time_ns,
                                      [](const Kernel& kernel, Ns time) { return kernel.latest_end_ns <= time; });
  return static_cast<std::size_t>(found - kernels_.begin());
}

Ns LaneTimes::busy_until(Ns time_ns) const {
  const auto after =
      std::lower_bound(kernels_.begin(), kernels_.end(), time_ns, [](const Kernel& kernel, Ns time) { return kernel.start_ns < time; });
  if (after == kernels_.begin()) return 0;
  const Kernel& last = *std::prev(after);
  const Ns before_ns = std::prev(after) == kernels_.begin() ? last.start_ns : std::prev(after, 2)->latest_end_ns;
  return last.busy_before_ns + std::max<Ns>(0, std::min(last.end_ns, time_ns) - std::max(last.start_ns, before_ns));
}

Ns LaneTimes::busy_ns(Ns start_ns, Ns end_ns) const { return busy_until(end_ns) - busy_until(start_ns); }

Ns LaneTimes::middle_of_longest_gap(Ns start_ns, Ns end_ns) const {
  Ns longest_ns = 0, middle_ns = start_ns + (end_ns - start_ns) / 2, idle_from_ns = start_ns;
  const auto gap = [&](Ns until_ns) {
    if (until_ns - idle_from_ns <= longest_ns) return;
    longest_ns = until_ns - idle_from_ns;
    middle_ns = idle_from_ns + longest_ns / 2;
  };
  for (std::size_t i = first_reaching(start_ns); i < kernels_.size() && kernels_[i].start_ns < end_ns; ++i) {
    gap(kernels_[i].start_ns);
    idle_from_ns = std::max(idle_from_ns, kernels_[i].end_ns);
  }
  gap(end_ns);
  return middle_ns;
}

std::vector<LaneTimes> lane_times(const Trace& trace, const GpuLanes& lanes) {
  std::vector<LaneTimes> work(lanes.size());
  const CommunicationKernels communication(trace);
  for (const std::uint32_t i : start_order_of(trace.kernels, [](const Kernel&) { return true; })) {
    const Kernel& kernel = trace.kernels[i];
    LaneTimes& lane = work[lanes.of_queue(kernel.queue)];
    if (communication.of(kernel)) lane.add_collective(kernel.start_ns, kernel.end_ns());
    else lane.add_compute(kernel.start_ns, kernel.end_ns(), kernel.shape < trace.shapes.size() ? trace.shapes[kernel.shape].name.value : 0);
  }
  return work;
}

}  // namespace nl::analysis
