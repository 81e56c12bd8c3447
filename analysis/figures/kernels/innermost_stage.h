#pragma once

#include <cstdint>
#include <vector>

#include "analysis/staging/staged_trace.h"
#include "analysis/staging/surroundings.h"
#include "analysis/trace/range_index.h"

namespace nl::analysis {

// True where a stage lies inside another: a request around its prefill. Decode steps are decode, as in every split by stage.
bool has_nested_stages(const StagedTrace& staged);

// The innermost stage around a call, warm-up or not. Where no range of the call's own thread is a stage, the stage that its
// surroundings count it in.
class InnermostStage {
 public:
  explicit InnermostStage(const StagedTrace& staged);
  std::uint32_t of(std::uint32_t api);  // top-level stages of the StageTable; kNone: in none

 private:
  struct ThreadState {
    std::uint32_t stage = kNone;
    Ns start_ns = 0, end_ns = 0, next_start_ns = 0, first_end_ns = 0;  // between which times `stage` holds
    bool known = false;
  };
  std::uint32_t look_up(const ApiCall& call, ThreadState& thread);

  const StagedTrace& staged_;
  RangeIndex index_;
  SurroundingsCache surroundings_;
  std::vector<ThreadState> threads_;
  std::vector<std::uint32_t> around_;
};

}  // namespace nl::analysis
