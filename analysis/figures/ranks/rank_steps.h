#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/figures/ranks/shared_collectives.h"
#include "analysis/staging/staged_trace.h"
#include "analysis/trace/covered_time.h"

namespace nl::analysis {

// The steps of all ranks together: windows of one stage, which each rank has, and which belong together where they launch the same collectives.
// Captures may begin at different steps. Warm-up is left out. Where no window launches one, each collective is a step.
class RankSteps {
 public:
  RankSteps(const StagedTrace& staged, const std::string& stage, const SharedCollectives& shared);

  bool known() const { return known_; }
  std::size_t count() const { return count_; }
  // By the number of the collective; nothing: it is in no step.
  std::optional<std::size_t> of(std::size_t number) const { return steps_[number]; }
  // When the rank is in a step, by time; empty: no steps are known.
  const std::vector<Spans>& windows() const { return spans_; }

 private:
  struct StepWindow {
    Ns start_ns = 0, end_ns = 0;
    bool warmup = false;
  };
  void find_step_windows(const StagedTrace& staged, const std::string& stage);
  std::optional<std::size_t> window_of(std::uint32_t kernel, std::size_t rank) const;
  std::vector<std::ptrdiff_t> shifts() const;
  void number_by_windows();
  void number_by_time();

  const Trace& trace_;
  const SharedCollectives& shared_;
  std::vector<std::vector<StepWindow>> windows_;  // by rank and start
  std::vector<Spans> spans_;
  std::vector<std::optional<std::size_t>> steps_;
  std::size_t count_ = 0;
  bool known_ = false;
};

}  // namespace nl::analysis
