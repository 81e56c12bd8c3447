#include "analysis/figures/stages/timeline.h"

#include <fmt/core.h>

#include <algorithm>
#include <deque>
#include <limits>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "analysis/staging/stage_table.h"
#include "analysis/staging/windows.h"
#include "analysis/trace/gpu_order.h"
#include "analysis/trace/operator_names.h"
#include "model/cuda_calls.h"
#include "nvtx/names.h"

namespace nl::analysis {
namespace {

constexpr Ns kLongestWithoutStagesNs = 200'000'000;
constexpr std::size_t kMaxLanes = 48;
constexpr std::size_t kMaxLevels = 6;  // of one thread's stage ranges, and of its other ranges

// What is to be shown, and whose.
struct TimelineScene {
  TimelineView view;
  std::uint32_t process = kNone;  // see process_slot(); kNone: all of them
  std::uint32_t thread = kNone;   // whose lanes come first
  std::string what;
};

using Lanes = std::deque<LaneDrawing>;

// The host's lanes of one thread: its ranges, then its calls. Lanes are made and counted first, and drawn when it is
// known how many slices each may have.
class ThreadLanes {
 public:
  // `ranges`: those of the thread in view, by start and longest first.
  ThreadLanes(const Trace& trace, const CallsByThread& calls, std::uint32_t thread, const std::vector<std::uint32_t>& ranges,
              const TimelineView& view, Lanes& lanes)
      : trace_(trace), calls_(calls), thread_(thread) {
    place(ranges, true, lanes);
    place(ranges, false, lanes);
    last_call_ = first_call_from(calls, thread, view.start_ns);
    // The call before may reach into the view.
    first_call_ = last_call_ > calls.first(thread) && calls[last_call_ - 1].end_ns() > view.start_ns ? last_call_ - 1 : last_call_;
    while (last_call_ < calls.last(thread) && calls[last_call_].start_ns < view.end_ns) ++last_call_;
    if (first_call_ == last_call_) return;
    call_lane_ = &lanes.emplace_back(LaneKind::kApi, fmt::format("thread {}", trace.threads[thread].tid));
    call_lane_->count = last_call_ - first_call_;
  }

  void draw(const TimelineView& view) {
    for (const auto& [index, lane] : placed_) {
      const Range& range = trace_.ranges[index];
      lane->add(view, range.start_ns, range.end_ns, range.name);
    }
    for (std::size_t i = first_call_; i < last_call_; ++i) call_lane_->add(view, calls_[i].start_ns, calls_[i].end_ns(), calls_[i].name);
  }
  std::uint64_t left_out() const { return left_out_; }

 private:
  // Each range goes to the first level that is free when it starts: nested ones lie below each other.
  void place(const std::vector<std::uint32_t>& ranges, bool stages, Lanes& lanes) {
    std::vector<std::pair<Ns, LaneDrawing*>> levels;  // free from, and its lane
    for (const std::uint32_t i : ranges) {
      const Range& range = trace_.ranges[i];
      const bool stage = !stage_of(trace_, range).empty();
      if (stage != stages) continue;
      auto level = std::find_if(levels.begin(), levels.end(), [&](const auto& free) { return free.first <= range.start_ns; });
      if (level == levels.end()) {
        if (levels.size() == kMaxLevels) {
          ++left_out_;
          continue;
        }
        LaneDrawing& lane = lanes.emplace_back(LaneKind::kRanges, fmt::format("thread {}", trace_.threads[thread_].tid));
        level = levels.insert(levels.end(), {0, &lane});
      }
      level->first = std::max(range.start_ns, range.end_ns);
      ++level->second->count;
      placed_.emplace_back(i, level->second);
    }
  }

  const Trace& trace_;
  const CallsByThread& calls_;
  std::uint32_t thread_;
  std::vector<std::pair<std::uint32_t, LaneDrawing*>> placed_;  // ranges
  LaneDrawing* call_lane_ = nullptr;
  std::size_t first_call_ = 0, last_call_ = 0;
  std::uint64_t left_out_ = 0;
};

// One lane for each queue with work in view.
class QueueLanes {
 public:
  QueueLanes(const Trace& trace, const TimelineScene& scene, Lanes& lanes) : trace_(trace), lanes_(trace.queues.size(), nullptr) {
    std::vector<std::uint64_t> counts(trace.queues.size(), 0);
    each_gpu_work(trace, [&](const auto& work) {
      if (work.queue < counts.size() && scene.view.shows(work.start_ns, end_of(work))) ++counts[work.queue];
    });
    for (std::size_t i = 0; i < counts.size(); ++i) {
      const Queue& queue = trace.queues[i];
      const bool shown = scene.process == kNone || process_slot(trace, queue.process) == scene.process;
      if (counts[i] == 0 || !shown) continue;
      lanes_[i] = &lanes.emplace_back(LaneKind::kGpu, fmt::format("GPU {} stream {}", queue.device, queue.stream));
      lanes_[i]->count = counts[i];
    }
  }

  void draw(const TimelineView& view) {
    const auto shown = [&](const auto& work) { return lane_of(work) != nullptr && view.shows(work.start_ns, end_of(work)); };
    visit_gpu_work_if(trace_, shown, [&](const auto& work) { lane_of(work)->add(view, work.start_ns, end_of(work), name_of(work)); });
  }

 private:
  StringId name_of(const Kernel& kernel) const {
    const KernelShape& shape = trace_.shapes[kernel.shape];
    return shape.short_name.value != 0 ? shape.short_name : shape.name;
  }
  StringId name_of(const MemOp& op) const { return {op.label}; }
  StringId name_of(const GraphRun&) const { return {}; }
  template <class Work>
  LaneDrawing* lane_of(const Work& work) const {
    const auto queue = static_cast<std::uint32_t>(work.queue);
    return queue < lanes_.size() ? lanes_[queue] : nullptr;
  }

  const Trace& trace_;
  std::vector<LaneDrawing*> lanes_;  // by queue; none: not shown
};

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
  const auto ranges = ranges_in_view(trace, scene.view);
  std::vector<std::uint32_t> order;
  if (scene.thread < trace.threads.size()) order.push_back(scene.thread);
  for (std::uint32_t i = 0; i < trace.threads.size(); ++i)
    if (i != scene.thread && (scene.process == kNone || process_slot_of_thread(trace, i) == scene.process)) order.push_back(i);
  Lanes lanes;
  std::deque<ThreadLanes> threads;
  for (const std::uint32_t thread : order) threads.emplace_back(trace, calls, thread, ranges[thread], scene.view, lanes);
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

void LaneDrawing::set_limit(const TimelineView& view, std::uint64_t most) {
  if (count <= most) return;
  // One merged slice and the start of one that is longer than a cell fit into each cell.
  const Ns cells = std::max<Ns>(1, static_cast<Ns>(most) / 2 - 1);
  cell_ns_ = (view.end_ns - view.start_ns) / cells + 1;
}

void LaneDrawing::add(const TimelineView& view, Ns start_ns, Ns end_ns, StringId name) {
  if (hidden) {
    ++left_out;
    return;
  }
  start_ns = std::max(start_ns, view.start_ns);
  end_ns = std::min(end_ns, view.end_ns);
  if (!slices.empty()) start_ns = std::max(start_ns, slices.back().end_ns);
  if (end_ns < start_ns || (end_ns == start_ns && !slices.empty() && slices.back().end_ns == end_ns)) {
    ++left_out;
    return;
  }
  const Ns length = end_ns - start_ns;
  if (cell_ns_ > 0 && length < cell_ns_ && !slices.empty()) {
    Slice& last = slices.back();
    const auto cell = [&](Ns time) { return (time - view.start_ns) / cell_ns_; };
    if (cell(last.start_ns) == cell(start_ns)) {  // never after a long one: it ends in a later cell than it starts
      last.end_ns = end_ns;
      ++last.merged;
      if (length > last.longest_ns) {
        last.longest_ns = length;
        last.name = name;
      }
      return;
    }
  }
  slices.push_back({start_ns, end_ns, name, 1, length});
}

std::string shown_slice_name(LaneKind kind, const std::string& name) {
  if (kind == LaneKind::kRanges) return nvtx::normalise_range({}, split_operator_name(name).name).name;
  if (kind == LaneKind::kApi && !name.empty()) return std::string(without_api_version(name));
  return name.empty() ? (kind == LaneKind::kGpu ? "CUDA graph" : "unnamed") : name;
}

std::size_t first_call_from(const CallsByThread& calls, std::uint32_t thread, Ns time_ns) {
  std::size_t low = calls.first(thread), high = calls.last(thread);
  while (low < high) {
    const std::size_t middle = low + (high - low) / 2;
    if (calls[middle].start_ns < time_ns) low = middle + 1;
    else high = middle;
  }
  return low;
}

void share_slices(const TimelineView& view, std::uint64_t total, std::vector<LaneDrawing*> lanes) {
  std::stable_sort(lanes.begin(), lanes.end(), [](const LaneDrawing* a, const LaneDrawing* b) { return a->count < b->count; });
  std::uint64_t left = lanes.size();
  for (LaneDrawing* lane : lanes) {
    const std::uint64_t fair = total / left;
    lane->set_limit(view, fair);
    total -= std::min(lane->count, fair);
    --left;
  }
}

std::optional<Timeline> draw_timeline(const Trace& trace, const IterationPlan& plan) {
  auto scene = median_iteration(trace, plan);
  if (!scene) scene = whole_capture(trace);
  if (!scene) return std::nullopt;
  return draw(trace, *scene);
}

}  // namespace nl::analysis
