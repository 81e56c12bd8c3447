#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/time.h"
#include "model/trace.h"

namespace nl::analysis {

// A collective that several ranks have together, as one piece of time: from its first member's arrival to the end of its last. Members leave some
// microseconds apart: where one is in the next collective already, the band ends with its beginning.
struct CollectiveBand {
  Ns start_ns = 0, all_there_ns = 0, end_ns = 0;
  std::string name;         // "all_reduce of 4 ranks"
  std::string awaited;      // "waits for rank 2"; empty: none was late by more than the clocks may be off
  std::uint32_t level = 0;  // bands of one level do not overlap
};

inline constexpr std::uint32_t kMostBandLevels = 8;

struct CollectiveBands {
  std::vector<CollectiveBand> list;             // by start
  std::uint64_t left_out = 0;                   // that find no level
  std::uint32_t levels() const;                 // that have bands,
  bool any_awaited(std::uint32_t level) const;  // and where some rank is waited for
};
CollectiveBands collective_bands(const Trace& trace);

}  // namespace nl::analysis
