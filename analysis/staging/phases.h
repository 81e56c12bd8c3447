#pragma once

#include <cstdint>
#include <vector>

#include "analysis/staging/iterations.h"
#include "analysis/staging/stage_table.h"
#include "analysis/staging/windows.h"

namespace nl::analysis {

// The measured time of each process, cut where its phase changes. A thread is in the stage of its outermost window;
// a window around prefill or decode (a whole request) names only what neither of them does. Threads in different
// stages, or requests of one thread that overlap, are mixed; time in which only a warm-up iteration runs is left out.
class PhasePartition {
 public:
  PhasePartition(const StageTable& table, const IterationPlan& plan, const std::vector<Window>& windows);

  // target: a stage, or mixed() or idle(). An idle stretch has the thread of the stage before it.
  const std::vector<BudgetSpan>& spans() const { return spans_; }
  std::uint32_t mixed() const { return stages_; }
  std::uint32_t idle() const { return stages_ + 1; }
  std::uint32_t targets() const { return stages_ + 2; }

 private:
  std::uint32_t stages_ = 0;
  std::vector<BudgetSpan> spans_;
};

}  // namespace nl::analysis
