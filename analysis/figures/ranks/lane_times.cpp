#include "analysis/figures/ranks/lane_times.h"

#include <algorithm>

#include "analysis/trace/communication_kernels.h"
#include "analysis/trace/gpu_order.h"

namespace nl::analysis {

void LaneTimes::Before::add(const Kernel& kernel) {
  busy_ns += std::max<Ns>(0, kernel.end_ns() - std::max(kernel.start_ns, latest_end_ns));
  latest_end_ns = std::max(latest_end_ns, kernel.end_ns());
}

void LaneTimes::add_compute(std::uint32_t kernel) {
  if (kernels_.empty()) all_.latest_end_ns = trace_->kernels[kernel].start_ns;
  if (kernels_.size() % kEvery == 0) before_.push_back(all_);
  kernels_.push_back(kernel);
  all_.add(trace_->kernels[kernel]);
}

void LaneTimes::add_collective(Ns start_ns, Ns end_ns) {
  left_.emplace_back(start_ns, left_.empty() ? end_ns : std::max(end_ns, left_.back().second));
}

std::optional<Ns> LaneTimes::left_before(Ns time_ns) const {
  const auto after = std::lower_bound(left_.begin(), left_.end(), time_ns, [](const auto& each, Ns time) { return each.first < time; });
  return after == left_.begin() ? std::nullopt : std::optional(std::prev(after)->second);
}

std::size_t LaneTimes::first_reaching(Ns time_ns) const {
  const auto later =
      std::partition_point(before_.begin(), before_.end(), [&](const Before& before) { return before.latest_end_ns <= time_ns; });
  if (later == before_.begin()) return 0;
  std::size_t i = static_cast<std::size_t>(std::prev(later) - before_.begin()) * kEvery;
  while (i < kernels_.size() && row(i).end_ns() <= time_ns) ++i;
  return i;
}

Ns LaneTimes::busy_until(Ns time_ns) const {
  const auto after = std::partition_point(kernels_.begin(), kernels_.end(),
                                          [&](std::uint32_t kernel) { return trace_->kernels[kernel].start_ns < time_ns; });
  if (after == kernels_.begin()) return 0;
  const auto last = static_cast<std::size_t>(std::prev(after) - kernels_.begin());
  Before before = before_[last / kEvery];
  for (std::size_t i = last - last % kEvery; i < last; ++i) before.add(row(i));
  return before.busy_ns + std::max<Ns>(0, std::min(row(last).end_ns(), time_ns) - std::max(row(last).start_ns, before.latest_end_ns));
}

Ns LaneTimes::busy_ns(Ns start_ns, Ns end_ns) const { return busy_until(end_ns) - busy_until(start_ns); }

Ns LaneTimes::middle_of_longest_gap(Ns start_ns, Ns end_ns) const {
  Ns longest_ns = 0, middle_ns = start_ns + (end_ns - start_ns) / 2, idle_from_ns = start_ns;
  const auto gap = [&](Ns until_ns) {
    if (until_ns - idle_from_ns <= longest_ns) return;
    longest_ns = until_ns - idle_from_ns;
    middle_ns = idle_from_ns + longest_ns / 2;
  };
  for (std::size_t i = first_reaching(start_ns); i < kernels_.size() && row(i).start_ns < end_ns; ++i) {
    gap(row(i).start_ns);
    idle_from_ns = std::max(idle_from_ns, row(i).end_ns());
  }
  gap(end_ns);
  return middle_ns;
}

std::vector<LaneTimes> lane_times(const Trace& trace, const GpuLanes& lanes) {
  std::vector<LaneTimes> work(lanes.size(), LaneTimes(trace));
  const CommunicationKernels communication(trace);
  for (const std::uint32_t i : start_order_of(trace.kernels, [](const Kernel&) { return true; })) {
    const Kernel& kernel = trace.kernels[i];
    LaneTimes& lane = work[lanes.of_queue(kernel.queue)];
    if (communication.of(kernel)) lane.add_collective(kernel.start_ns, kernel.end_ns());
    else lane.add_compute(i);
  }
  return work;
}

}  // namespace nl::analysis
