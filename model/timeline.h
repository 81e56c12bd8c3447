#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/codes.h"
#include "model/time.h"

// A picture of one iteration, small enough for run.json: what a reader looks at first.
namespace nl {

struct TimelineSlice {
  Ns start_ns = 0;  // since the start of the capture
  Ns duration_ns = 0;
  std::uint32_t name = 0;    // index into Timeline::names
  std::uint32_t merged = 1;  // how many neighbours of a crowded lane it stands for
};

struct TimelineLane {
  LaneKind kind = LaneKind::kRanges;
  std::string title;                  // "thread 973", "GPU 0 stream 7"
  std::vector<TimelineSlice> slices;  // by start, none overlapping another of its lane
};

struct Timeline {
  Ns start_ns = 0, end_ns = 0;  // of the iteration (or the part of it) shown
  std::string what;             // "iteration 2 of 2, the median one"
  std::vector<std::string> names;
  std::vector<TimelineLane> lanes;
  std::uint64_t slices_left_out = 0;
};

}  // namespace nl
