#pragma once

#include <cstddef>
#include <optional>

#include "analysis/ranks/clock_line.h"
#include "analysis/ranks/tracks.h"

namespace nl::analysis::ranks {

// Which collective of one track is which of the other: event i of the first is event i + shift of the second.
struct Alignment {
  std::ptrdiff_t shift = 0;
  std::size_t pairs = 0;  // whose ends show the clocks
  ClockLine clock;        // puts times of the second on the clock of the first
  double drift_error = 0;
  double residual_ns = 0, residual_max_ns = 0;
  bool ambiguous = false;  // another shift fits as well
};

// Nothing where the tracks are not of the same collectives, or too few of them show the clocks. Where captures began at different times
// several shifts may fit as well: then `seeded` clocks (nearly right already) choose the one with the least offset.
// `by`: which ends are looked at.
std::optional<Alignment> align(const Track& first, const Track& second, bool seeded, Leaving by = Leaving::kTogether);

// The shift where the clocks are one already: every pair overlaps, and ends are `tolerance_ns` apart at the median.
struct Match {
  std::ptrdiff_t shift = 0;
  Ns apart_ns = 0;  // median
};
std::optional<Match> match(const Track& first, const Track& second, Ns tolerance_ns);

}  // namespace nl::analysis::ranks
