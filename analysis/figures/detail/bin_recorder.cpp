#include "analysis/figures/detail/bin_recorder.h"

#include <algorithm>
#include <utility>

namespace nl::analysis {
namespace {

void append(const DetailInterval& interval, std::vector<DetailInterval>& all) {
  if (!all.empty() && all.back().end_ns == interval.start_ns && all.back().bin == interval.bin) all.back().end_ns = interval.end_ns;
  else all.push_back(interval);
}

}  // namespace

BinRecorder::BinRecorder(const std::vector<Window>& windows, std::uint32_t processes, const Buckets& buckets, const Spans& exact,
                         std::vector<std::uint32_t> listed)
    : windows_(windows), innermost_(processes, windows), buckets_(buckets), exact_(exact), listed_(std::move(listed)),
      windows_of_process_(processes) {
  std::uint32_t steps = 0;
  for (std::uint32_t i = 0; i < windows.size(); ++i) {
    windows_of_process_[windows[i].process].push_back(i);
    if (listed_[i] != kNone) steps = std::max(steps, listed_[i] + 1);
  }
  step_bins_.resize(steps);
}

void BinRecorder::set_lanes(const std::vector<GpuLane>& lanes) {
  for (const GpuLane& lane : lanes) {
    Lane& added = lanes_.emplace_back();
    added.process = lane.process;
    added.busy.resize(buckets_.count());
    for (auto& bin : added.bins) bin.resize(buckets_.count());
    added.exact.resize(exact_.size());
  }
}

void BinRecorder::add_to_step(std::uint32_t window, const Lane& lane, BudgetBin bin, Ns time_ns) {
  if (listed_[window] == kNone) return;
  auto& all = step_bins_[listed_[window]];
  const auto number = static_cast<std::uint32_t>(&lane - lanes_.data());
  auto found = std::find_if(all.begin(), all.end(), [&](const auto& each) { return each.first == number; });
  if (found == all.end()) found = all.insert(all.end(), {number, BinTimes{}});
  found->second[static_cast<std::size_t>(bin)] += time_ns;
}

void BinRecorder::idle(std::uint32_t number, std::uint32_t window, BudgetBin bin, Ns start_ns, Ns end_ns) {
  Lane& lane = lanes_[number];
  add_to_step(window, lane, bin, end_ns - start_ns);
  innermost_.each_of_window(window, start_ns, end_ns, [&](Ns start, Ns end) { record(lane, bin, start, end); });
}

void BinRecorder::record(Lane& lane, BudgetBin bin, Ns start_ns, Ns end_ns) {
  std::vector<Ns>& sums = lane.bins[static_cast<std::size_t>(bin)];
  buckets_.spread(start_ns, end_ns, [&](std::uint32_t bucket, Ns time_ns) { sums[bucket] += time_ns; });
  auto window = first_ending_after(exact_, start_ns);
  for (; window != exact_.end() && window->first < end_ns; ++window)
    append({std::max(start_ns, window->first), std::min(end_ns, window->second), bin},
           lane.exact[static_cast<std::size_t>(window - exact_.begin())]);
}

void BinRecorder::busy(Lane& lane, BudgetBin bin, Ns start_ns, Ns end_ns) {
  if (end_ns <= start_ns) return;
  buckets_.spread(start_ns, end_ns, [&](std::uint32_t bucket, Ns time_ns) { lane.busy[bucket] += time_ns; });
  const auto& own = windows_of_process_[lane.process];
  for (; lane.next_window < own.size() && windows_[own[lane.next_window]].start_ns < end_ns; ++lane.next_window)
    lane.open.push_back(own[lane.next_window]);
  std::erase_if(lane.open, [&](std::uint32_t window) { return windows_[window].end_ns <= start_ns; });
  for (const std::uint32_t window : lane.open) {
    const Ns inside_ns = std::min(end_ns, windows_[window].end_ns) - std::max(start_ns, windows_[window].start_ns);
    if (inside_ns > 0) add_to_step(window, lane, bin, inside_ns);
  }
  innermost_.each(lane.process, start_ns, end_ns, [&](Ns start, Ns end) { record(lane, bin, start, end); });
}

// Nothing starts between the latest start and this time: each kind of work runs until its latest end, and the first that
// applies has the moment.
void BinRecorder::advance(Lane& lane, Ns time_ns) {
  const Ns compute = std::clamp(lane.compute_until_ns, lane.at_ns, time_ns);
  const Ns communication = std::clamp(lane.communication_until_ns, compute, time_ns);
  const Ns all = std::clamp(lane.busy_until_ns, communication, time_ns);
  busy(lane, BudgetBin::kCompute, lane.at_ns, compute);
  busy(lane, BudgetBin::kCommunication, compute, communication);
  busy(lane, BudgetBin::kExposedCopy, communication, all);
  lane.at_ns = time_ns;
}

void BinRecorder::add(std::uint32_t number, const LaneWork& work) {
  Lane& lane = lanes_[number];
  if (work.start_ns > lane.at_ns) advance(lane, work.start_ns);
  Ns& kind_until_ns = work.communication ? lane.communication_until_ns : work.computes() ? lane.compute_until_ns : lane.busy_until_ns;
  kind_until_ns = std::max(kind_until_ns, work.end_ns);
  lane.busy_until_ns = std::max(lane.busy_until_ns, work.end_ns);
}

void BinRecorder::finish() {
  for (Lane& lane : lanes_) {
    if (lane.busy_until_ns > lane.at_ns) advance(lane, lane.busy_until_ns);
    for (auto& intervals : lane.exact)
      std::stable_sort(intervals.begin(), intervals.end(),
                       [](const DetailInterval& a, const DetailInterval& b) { return a.start_ns < b.start_ns; });
  }
}

void BinRecorder::put_overview(DetailOverview& overview) const {
  for (const Lane& lane : lanes_) {
    overview.busy.push_back(lane.busy);
    overview.bins.push_back(lane.bins);
  }
}

std::vector<DetailInterval> BinRecorder::take_intervals(std::size_t exact, std::uint32_t lane) {
  std::vector<DetailInterval> joined;
  for (const DetailInterval& each : std::exchange(lanes_[lane].exact[exact], {})) append(each, joined);
  return joined;
}

void BinRecorder::put_bins(std::vector<DetailStep>& steps) const {
  for (std::size_t i = 0; i < steps.size(); ++i) steps[i].bins = step_bins_[i];
}

}  // namespace nl::analysis
