#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/staging/iterations.h"
#include "analysis/trace/api_kind.h"
#include "model/codes.h"
#include "model/strings.h"
#include "model/time.h"
#include "model/timeline.h"
#include "model/trace.h"

namespace nl::analysis {

// The stretch of time that a timeline shows.
struct TimelineView {
  Ns start_ns = 0, end_ns = 0;
  bool shows(Ns start, Ns end) const { return start < end_ns && end > start_ns; }
};

// One lane of a timeline as it is drawn: slices come in the order of their start, none overlaps the one before, and
// with a limit short ones in the same cell of a grid become one.
class LaneDrawing {
 public:
  struct Slice {
    Ns start_ns = 0, end_ns = 0;
    StringId name;
    std::uint32_t merged = 1;
    Ns longest_ns = 0;  // of those it stands for
  };

  LaneDrawing(LaneKind kind, std::string title) : kind(kind), title(std::move(title)) {}

  // At most about `most` slices, of `count` that will come.
  void set_limit(const TimelineView& view, std::uint64_t most);
  void add(const TimelineView& view, Ns start_ns, Ns end_ns, StringId name);

  LaneKind kind;
  std::string title;
  std::uint64_t count = 0;  // that will come: counted before they are added
  bool hidden = false;      // there are too many lanes: only counted
  std::vector<Slice> slices;
  std::uint64_t left_out = 0;  // wholly behind another one

 private:
  Ns cell_ns_ = 0;  // 0: no limit
};

// "LLM@prefill" is prefill, "aten::mm, op_id = 276, sizes = …" is aten::mm, and cudaLaunchKernel_v7000 is
// cudaLaunchKernel: how a tool spells it is not shown.
std::string shown_slice_name(LaneKind kind, const std::string& name);

// The place of the thread's first call that starts at the time or later.
std::size_t first_call_from(const CallsByThread& calls, std::uint32_t thread, Ns time_ns);

// Divides `total` among the lanes, so that the lanes with few slices leave room for the crowded ones.
void share_slices(const TimelineView& view, std::uint64_t total, std::vector<LaneDrawing*> lanes);

inline constexpr std::size_t kMaxTimelineSlices = 3000;

// The median measured iteration; where there are none, the capture, or its middle where it is long. One lane for
// each level of a thread's ranges (those of stages first), for its calls and for each GPU queue. Where a lane is
// crowded, short neighbours become one slice with the name of the longest. Nothing where nothing was captured.
std::optional<Timeline> draw_timeline(const Trace& trace, const IterationPlan& plan);

}  // namespace nl::analysis
