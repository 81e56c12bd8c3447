#pragma once

#include <cmath>

#include "model/time.h"

namespace nl::analysis::ranks {

// Puts a time of one clock on another.
struct ClockLine {
  Ns from_ns = 0;  // own time at which the clocks are offset_ns apart
  Ns offset_ns = 0;
  double drift = 0;  // how much faster the own clock runs
  Ns operator()(Ns own_ns) const {
    return own_ns - offset_ns - static_cast<Ns>(std::llround(drift * static_cast<double>(own_ns - from_ns)));
  }
};

// First by `inner`, then by `outer`.
inline ClockLine after(const ClockLine& inner, const ClockLine& outer) {
  return {inner.from_ns, inner.from_ns - outer(inner(inner.from_ns)), 1 - (1 - inner.drift) * (1 - outer.drift)};
}

}  // namespace nl::analysis::ranks
