#pragma once

#include "collector/gpu/cupti_library.h"
#include "collector/trace_format.h"

namespace nl::collector {

using trace_format::NoteCode;

// Which of CUPTI's calls for counters failed, and with what.
struct CounterTrouble {
  cupti::Result result = cupti::kSuccess;
  const char* where = "";
  explicit operator bool() const { return result != cupti::kSuccess; }
};

// What is lost when one of them fails: in words, and its code by what CUPTI says.
struct Loss {
  const char* words;
  NoteCode failed, denied, busy;
};
inline constexpr Loss kNoCounters{trace_format::kCountersNotMeasured, NoteCode::kCountersFailed, NoteCode::kCountersDenied,
                                  NoteCode::kCountersBusy};
inline constexpr Loss kNoActivity{trace_format::kActivityNotSampled, NoteCode::kActivityFailed, NoteCode::kActivityDenied,
                                  NoteCode::kActivityFailed};
inline constexpr Loss kNoStalls{trace_format::kStallsNotSampled, NoteCode::kStallsFailed, NoteCode::kStallsDenied, NoteCode::kStallsFailed};
inline constexpr Loss kNoMoreCounters{"counters are no longer measured", NoteCode::kOther, NoteCode::kOther, NoteCode::kOther};
inline constexpr Loss kNoMoreActivity{"activity is sampled no longer", NoteCode::kOther, NoteCode::kOther, NoteCode::kOther};

// "counters are not measured: the driver lets only administrators …": what failed, and what the user can do.
void note_trouble(const CuptiLibrary& library, const Loss& loss, const CounterTrouble& trouble);

}  // namespace nl::collector
