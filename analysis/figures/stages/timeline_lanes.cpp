#include "analysis/figures/stages/timeline_lanes.h"

#include <fmt/core.h>

#include <algorithm>
#include <type_traits>
#include <utility>

#include "analysis/staging/stage_table.h"
#include "analysis/staging/windows.h"
#include "analysis/trace/gpu_order.h"

namespace nl::analysis {
namespace {

constexpr std::size_t kMaxLevels = 6;  // of one thread's stage ranges, and of its other ranges

}  // namespace

ThreadLanes::ThreadLanes(const Trace& trace, const CallsByThread& calls, std::uint32_t thread, std::vector<std::uint32_t> ranges,
                         const TimelineView& view, Lanes& lanes)
    : trace_(trace), calls_(calls), thread_(thread) {
  place(ranges, true, lanes);
  place(ranges, false, lanes);
  std::size_t low = calls.first(thread), high = calls.last(thread);
  const std::size_t begin = low, end = high;
  while (low < high) {
    const std::size_t middle = low + (high - low) / 2;
    if (calls[middle].start_ns < view.start_ns) low = middle + 1;
    else high = middle;
  }
  // The call before may reach into the view.
  first_call_ = low > begin && calls[low - 1].end_ns() > view.start_ns ? low - 1 : low;
  last_call_ = low;
  while (last_call_ < end && calls[last_call_].start_ns < view.end_ns) ++last_call_;
  if (first_call_ == last_call_) return;
  call_lane_ = &lanes.emplace_back(LaneKind::kApi, fmt::format("thread {}", trace.threads[thread].tid));
  call_lane_->count = last_call_ - first_call_;
}

// Each range goes to the first level that is free when it starts: nested ones lie below each other.
void ThreadLanes::place(const std::vector<std::uint32_t>& ranges, bool stages, Lanes& lanes) {
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
    placed_.push_back({i, level->second});
  }
}

void ThreadLanes::draw(const TimelineView& view) {
  for (const Placed& placed : placed_) {
    const Range& range = trace_.ranges[placed.range];
    placed.lane->add(view, range.start_ns, range.end_ns, range.name);
  }
  for (std::size_t i = first_call_; i < last_call_; ++i) call_lane_->add(view, calls_[i].start_ns, calls_[i].end_ns(), calls_[i].name);
}

QueueLanes::QueueLanes(const Trace& trace, const TimelineScene& scene, Lanes& lanes) : trace_(trace), lanes_(trace.queues.size(), nullptr) {
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

void QueueLanes::draw(const TimelineView& view) {
  const auto name_of = [&](const auto& work) {
    using Work = std::decay_t<decltype(work)>;
    if constexpr (std::is_same_v<Work, Kernel>) {
      const KernelShape& shape = trace_.shapes[work.shape];
      return shape.short_name.value != 0 ? shape.short_name : shape.name;
    } else if constexpr (std::is_same_v<Work, MemOp>) {
      return StringId{work.label};
    } else {
      return StringId{};
    }
  };
  const auto shown = [&](const auto& work) { return lane_of(work) != nullptr && view.shows(work.start_ns, end_of(work)); };
  visit_gpu_work_if(trace_, shown, [&](const auto& work) { lane_of(work)->add(view, work.start_ns, end_of(work), name_of(work)); });
}

}  // namespace nl::analysis
