#pragma once

#include "collector/gpu/cupti_library.h"

namespace nl::collector {

inline constexpr const char* kCountersNotMeasured = "counters are not measured";

// Which of CUPTI's calls for counters failed, and with what.
struct CounterTrouble {
  cupti::Result result = cupti::kSuccess;
  const char* where = "";
  explicit operator bool() const { return result != cupti::kSuccess; }
};

// "counters are not measured: the driver lets only administrators …": what failed, and what the user can do.
void note_trouble(const CuptiLibrary& library, const char* what, const CounterTrouble& trouble);

}  // namespace nl::collector
