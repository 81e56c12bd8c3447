#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "analysis/figures/operators/range_tally.h"
#include "analysis/figures/operators/step_windows.h"
#include "analysis/figures/operators/work_rows.h"
#include "analysis/trace/range_index.h"

namespace nl::analysis {

// What each window has of operators.
struct WindowOperators {
  std::vector<std::uint64_t> ranges;    // operators that run in it, those of the windows inside it too
  std::vector<std::uint64_t> replayed;  // work of CUDA graphs that it launches whose nodes were made inside operators
  // It is looked at: it has ranges or, where no window of its stage has any, replayed work. Warm-up counts only where nothing else is there.
  std::vector<bool> chosen;
};
WindowOperators operators_by_window(const Trace& trace, const StepWindows& steps, const RangeItems& operators, const RangeIndex& index);

// The innermost of the ranges that count around the origin of work; kNone: none. The same nodes come again with every launch of their graph.
class InnermostRange {
 public:
  InnermostRange(const RangeIndex& index, const RangeItems& items) : index_(index), items_(items) {}
  std::uint32_t of(const WorkOrigin& origin);

 private:
  const RangeIndex& index_;
  const RangeItems& items_;
  std::map<std::pair<std::uint32_t, Ns>, std::uint32_t> nodes_;
  std::vector<std::uint32_t> around_;
};

}  // namespace nl::analysis
