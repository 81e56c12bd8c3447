#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/time.h"
#include "model/trace.h"

namespace nl::analysis {

// A collective that several ranks have together, as one piece of time: from its first member's arrival to the end of its last.
struct CollectiveBand {
  Ns start_ns = 0, all_there_ns = 0, end_ns = 0;
  std::string name;         // "all_reduce of 4 ranks"
  std::string awaited;      // "waits for rank 2"; empty: none was late by more than the clocks may be off
  std::uint32_t level = 0;  // bands of one level do not overlap
};

inline constexpr std::uint32_t kMostBandLevels = 8;

// By start. Those that find no level are left out.
std::vector<CollectiveBand> collective_bands(const Trace& trace);

}  // namespace nl::analysis
