#pragma once

#include <cstdint>

#include "model/trace.h"

namespace nl::analysis {

// A stretch of time whose nanoseconds are to be told: a window of a stage, or of a phase.
struct BudgetSpan {
  Ns start_ns = 0, end_ns = 0;
  Ns launch_end_ns = 0;          // a launch from then on is not its own: the end of the window
  std::uint32_t process = 0;     // see process_slot()
  std::uint32_t thread = kNone;  // whose waiting counts as blocked
  std::uint32_t target = 0;      // which sum it goes into
  bool window = false;           // of a stage: what it launched itself is told apart
};

}  // namespace nl::analysis
