#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "analysis/figures/stages/timeline_lane.h"
#include "analysis/trace/api_kind.h"
#include "model/trace.h"

namespace nl::analysis {

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
  ThreadLanes(const Trace& trace, const CallsByThread& calls, std::uint32_t thread, std::vector<std::uint32_t> ranges,
              const TimelineView& view, Lanes& lanes);
  void draw(const TimelineView& view);
  std::uint64_t left_out() const { return left_out_; }

 private:
  struct Placed {
    std::uint32_t range;
    LaneDrawing* lane;
  };
  void place(const std::vector<std::uint32_t>& ranges, bool stages, Lanes& lanes);

  const Trace& trace_;
  const CallsByThread& calls_;
  std::uint32_t thread_;
  std::vector<Placed> placed_;
  LaneDrawing* call_lane_ = nullptr;
  std::size_t first_call_ = 0, last_call_ = 0;
  std::uint64_t left_out_ = 0;
};

// One lane for each queue with work in view.
class QueueLanes {
 public:
  QueueLanes(const Trace& trace, const TimelineScene& scene, Lanes& lanes);
  void draw(const TimelineView& view);

 private:
  template <class Work>
  LaneDrawing* lane_of(const Work& work) const {
    const auto queue = static_cast<std::uint32_t>(work.queue);
    return queue < lanes_.size() ? lanes_[queue] : nullptr;
  }
  const Trace& trace_;
  std::vector<LaneDrawing*> lanes_;  // by queue; none: not shown
};

}  // namespace nl::analysis
