#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/ranks/clock_line.h"
#include "analysis/ranks/tracks.h"
#include "model/ranks.h"

namespace nl::analysis::ranks {

// How the times of a capture get onto the clock of the first one.
struct CaptureClock {
  RankClock by = RankClock::kNone;
  ClockLine line;
  std::uint32_t fitted_to = 0;  // the capture that its collectives were compared with
  double drift_error = 0;       // 1 sigma, of line.drift
  double residual_ns = 0, residual_max_ns = 0;
  std::size_t collectives = 0;
  bool ambiguous = false;
};

// By the ends of the collectives that two captures share, from the first capture on to all that share a group with one that is reached
// already. `seeded`: the times are on the clocks of the day, which are nearly one. `by` stays kNone of a capture that is not reached.
std::vector<CaptureClock> fit_clocks(const std::vector<Track>& tracks, std::size_t captures, bool seeded);

// Beyond this the ends of collectives say nothing of the clocks.
inline constexpr double kLoosestNs = 1'000'000;
// A fit that is worse than this was made of clocks that do not follow a line.
inline constexpr double kLooseNs = 50'000;

}  // namespace nl::analysis::ranks
