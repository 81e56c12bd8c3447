#pragma once

#include <limits>
#include <optional>

#include "model/trace.h"

namespace nl::parsers {

// What is wrong with an event's times, or nullptr.
inline const char* damage_of(std::optional<Ns> start_ns, std::optional<Ns> duration_ns) {
  if (!start_ns || !duration_ns) return "event without a time";
  if (*duration_ns < 0) return "event that ends before it starts";
  // Half of what there is leaves room for every sum and difference of two times.
  constexpr Ns kLatest = std::numeric_limits<Ns>::max() / 2;
  const bool possible = *duration_ns <= kMaxPackedDurationNs && *start_ns <= kLatest && *start_ns >= -kLatest;
  return possible ? nullptr : "event with an impossible time";
}

}  // namespace nl::parsers
