#pragma once

#include <cstdint>
#include <vector>

#include "model/time.h"
#include "model/trace.h"

namespace nl::analysis::ranks {

// How members leave a collective. Ends of those that all leave together show the clocks best.
enum class Leaving : std::uint8_t { kTogether, kInPairs, kApart };

struct CollectiveEvent {
  Ns start_ns = 0, end_ns = 0;
  std::uint32_t kernel = kNone;  // index into Trace::kernels
  std::uint32_t what = 0;        // equal for kernels of one name
  Leaving leaving = Leaving::kApart;
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
