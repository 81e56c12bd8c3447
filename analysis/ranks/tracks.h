#pragma once

#include <cstdint>
#include <vector>

#include "model/time.h"
#include "model/trace.h"

namespace nl::analysis::ranks {

struct CollectiveEvent {
  Ns start_ns = 0, end_ns = 0;
  std::uint32_t kernel = kNone;  // index into Trace::kernels
  std::uint32_t what = 0;        // equal for kernels of one name
  bool joint = false;            // all members leave it together, so that its ends show the clocks
};

// The collectives of one stream, which libraries for communication give to one group of ranks.
struct Track {
  std::uint32_t capture = 0;  // index of the trace that it is of
  std::uint32_t process = kNone;
  std::int32_t device = 0;
  std::vector<CollectiveEvent> events;  // by start
};

// Those of a capture. Times are its own, plus the shift.
void add_tracks(const Trace& trace, std::uint32_t capture, Ns shift_ns, std::vector<Track>& all);

}  // namespace nl::analysis::ranks
