#pragma once

#include <cstdint>
#include <vector>

#include "analysis/staging/found/periods.h"
#include "analysis/staging/found/work_amount.h"
#include "analysis/staging/found/work_sequence.h"
#include "model/trace.h"

namespace nl::analysis {

// Steps that follow each other without a break: each ends where the next begins.
struct StepRun {
  std::vector<std::uint32_t> starts;  // places in the sequence
  std::uint32_t end = 0;              // of the last
  std::uint32_t end_of(std::size_t step) const { return step + 1 < starts.size() ? starts[step + 1] : end; }
};

// A sequence cut at one of its levels.
struct StepCut {
  std::vector<StepRun> runs;
  std::size_t steps = 0;
  double regular = 0;      // share of the steps that are about as long as the period
  double after_wait = 0;   // share of the steps that begin right after a wait or a copy to the host
  double after_pause = 0;  // share of the steps before which the thread launches nothing for longer than inside them
};

// Where steps begin: after the wait that the lookup of the embedding follows, or the longest pause; where steps have no wait, where
// their runs begin and end.
StepCut cut_steps(const Trace& trace, const WorkSequence& sequence, const WorkAmounts& amounts, const Neighbourhoods& neighbourhoods,
                  const Level& level);

}  // namespace nl::analysis
