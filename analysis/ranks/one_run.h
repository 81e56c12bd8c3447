#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/trace.h"

namespace nl::analysis::ranks {

struct RankCapture {
  Trace trace;
  std::uint32_t rank = 0;
  RankSource source = RankSource::kNone;
  std::string file;  // to name it
};

// The captures of the ranks of one run as one trace, on the clock of the first of them. At least two; by rank.
// Throws Error(kInput) where they cannot be of one run: they were made at different times.
Trace one_run(std::vector<RankCapture> captures);

// Tells the ranks of a capture of several: by the numbers that a launcher told its processes, else a process each where processes have
// collectives together. One clock recorded them.
void tell_ranks(Trace& trace);

}  // namespace nl::analysis::ranks
