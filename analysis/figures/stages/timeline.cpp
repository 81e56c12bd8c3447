#include "analysis/figures/stages/timeline.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <string_view>
#include <tuple>
#include <unordered_map>

#include "analysis/figures/stages/timeline_lanes.h"
#include "analysis/staging/windows.h"
#include "analysis/trace/gpu_order.h"

namespace nl::analysis {
namespace {

constexpr Ns kLongestWithoutStagesNs = 200'000'000;
constexpr std::size_t kMaxLanes = 48;

std::optional<TimelineScene> median_iteration(const Trace& trace, const IterationPlan& plan) {
  std::vector<std::uint32_t> measured;
  for (std::uint32_t i = 0; i < plan.spans.size(); ++i)
    if (!plan.spans[i].warmup && plan.spans[i].wall_ns() > 0) measured.push_back(i);
  if (measured.empty()) return std::nullopt;
  const auto middle = measured.begin() + static_cast<std::ptrdiff_t>((measured.size() - 1) / 2);
  std::nth_element(measured.begin(), middle, measured.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::tuple(plan.spans[a].wall_ns(), a) < std::tuple(plan.spans[b].wall_ns(), b);
  });
  const auto& chosen = plan.spans[*middle];
  const auto before =
      std::count_if(plan.spans.begin(), plan.spans.end(), [&](const auto& span) { return span.start_ns < chosen.start_ns; });
  return TimelineScene{
      {chosen.start_ns, chosen.end_ns},
      process_slot_of_thread(trace, chosen.thread),
      chosen.thread,
      fmt::format("iteration {} of {}, {}", before + 1, plan.spans.size(), measured.size() == 1 ? "the only one measured" : "the median")};
}

std::optional<TimelineScene> whole_capture(const Trace& trace) {
  Ns first = std::numeric_limits<Ns>::max(), last = std::numeric_limits<Ns>::min();
  const auto widen = [&](Ns start, Ns end) {
    first = std::min(first, start);
    last = std::max(last, end);
  };
  each_gpu_work(trace, [&](const auto& work) { widen(work.start_ns, end_of(work)); });
  if (first >= last)
    for (const Range& range : trace.ranges) widen(range.start_ns, range.end_ns);
  if (first >= last) return std::nullopt;
  TimelineScene scene{{first, last}, kNone, kNone, "the whole capture, because it has no closed stage ranges"};
  if (last - first > kLongestWithoutStagesNs) {
    const Ns from = first + (last - first - kLongestWithoutStagesNs) / 2;
    scene.view = {from, from + kLongestWithoutStagesNs};
    scene.what =
        fmt::format("{} ms in the middle of the capture, because it has no closed stage ranges", kLongestWithoutStagesNs / 1'000'000);
  }
  return scene;
}

// The ranges in view of each thread, by start and longest first.
std::vector<std::vector<std::uint32_t>> ranges_in_view(const Trace& trace, const TimelineView& view) {
  std::vector<std::vector<std::uint32_t>> threads(trace.threads.size());
  for (std::uint32_t i = 0; i < trace.ranges.size(); ++i) {
    const Range& range = trace.ranges[i];
    if (range.thread < threads.size() && view.shows(range.start_ns, range.end_ns)) threads[range.thread].push_back(i);
  }
  for (auto& ranges : threads) {
    std::sort(ranges.begin(), ranges.end(), [&](std::uint32_t a, std::uint32_t b) {
      const Range &x = trace.ranges[a], &y = trace.ranges[b];
      return std::tuple(x.start_ns, -x.end_ns, a) < std::tuple(y.start_ns, -y.end_ns, b);
    });
  }
  return threads;
}

Timeline finish(const Trace& trace, const TimelineScene& scene, const Lanes& lanes) {
  Timeline timeline;
  timeline.start_ns = scene.view.start_ns;
  timeline.end_ns = scene.view.end_ns;
  timeline.what = scene.what;
  std::unordered_map<std::string, std::uint32_t> names;
  for (const LaneDrawing& drawn : lanes) {
    timeline.slices_left_out += drawn.left_out;
    if (drawn.slices.empty()) continue;
    TimelineLane& lane = timeline.lanes.emplace_back();
    lane.kind = drawn.kind;
    lane.title = drawn.title;
    lane.slices.reserve(drawn.slices.size());
    for (const auto& slice : drawn.slices) {
      const auto [name, added] = names.try_emplace(shown_slice_name(lane.kind, trace.strings[slice.name]), timeline.names.size());
      if (added) timeline.names.push_back(name->first);
      lane.slices.push_back({slice.start_ns, slice.end_ns - slice.start_ns, name->second, slice.merged});
    }
  }
  return timeline;
}

Timeline draw(const Trace& trace, const TimelineScene& scene) {
  const CallsByThread calls(trace);
  auto ranges = ranges_in_view(trace, scene.view);
  std::vector<std::uint32_t> order;
  if (scene.thread < trace.threads.size()) order.push_back(scene.thread);
  for (std::uint32_t i = 0; i < trace.threads.size(); ++i)
    if (i != scene.thread && (scene.process == kNone || process_slot_of_thread(trace, i) == scene.process)) order.push_back(i);
  Lanes lanes;
  std::deque<ThreadLanes> threads;
  for (const std::uint32_t thread : order) threads.emplace_back(trace, calls, thread, std::move(ranges[thread]), scene.view, lanes);
  QueueLanes queues(trace, scene, lanes);
  std::vector<LaneDrawing*> shares;
  for (LaneDrawing& lane : lanes) shares.push_back(&lane);
  std::stable_sort(shares.begin(), shares.end(), [](const auto* a, const auto* b) { return a->count > b->count; });
  for (std::size_t i = kMaxLanes; i < shares.size(); ++i) shares[i]->hidden = true;
  if (shares.size() > kMaxLanes) shares.resize(kMaxLanes);
  share_slices(scene.view, kMaxTimelineSlices, shares);
  for (ThreadLanes& thread : threads) thread.draw(scene.view);
  queues.draw(scene.view);
  Timeline timeline = finish(trace, scene, lanes);
  for (const ThreadLanes& thread : threads) timeline.slices_left_out += thread.left_out();
  return timeline;
}

}  // namespace

std::optional<Timeline> draw_timeline(const Trace& trace, const IterationPlan& plan) {
  auto scene = median_iteration(trace, plan);
  if (!scene) scene = whole_capture(trace);
  if (!scene) return std::nullopt;
  return draw(trace, *scene);
}

}  // namespace nl::analysis
