#pragma once

#include <limits>
#include <optional>

#include "model/trace.h"

namespace nl::parsers {

// What is wrong with an event's times.
inline std::optional<Code> damage_of(std::optional<Ns> start_ns, std::optional<Ns> duration_ns) {
  if (!start_ns || !duration_ns) return Code::kNoTime;
  if (*duration_ns < 0) return Code::kEndsBeforeStart;
  // Half of what there is leaves room for every sum and difference of two times.
  constexpr Ns kLatest = std::numeric_limits<Ns>::max() / 2;
  const bool possible = *duration_ns <= kMaxPackedDurationNs && *start_ns <= kLatest && *start_ns >= -kLatest;
  return possible ? std::nullopt : std::optional(Code::kImpossibleTime);
}

}  // namespace nl::parsers
