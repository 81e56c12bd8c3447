#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "analysis/attribution/attribution.h"
#include "analysis/attribution/range_tally.h"
#include "analysis/operators/step_windows.h"
#include "analysis/operators/work_rows.h"

namespace nl::analysis {

// How many operators run in each window, those of the windows inside it too.
std::vector<std::uint64_t> operators_by_window(const Trace& trace, const StepWindows& steps, const RangeItems& operators);

// How much work of CUDA graphs each window launches whose nodes were made inside operators.
std::vector<std::uint64_t> replayed_by_window(const Trace& trace, const StepWindows& steps, const RangeItems& operators, const RangeIndex& index);

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
