#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/perturbation.h"

// Whether the passes that measure the overhead of tracing are enough.
namespace nl::analysis {

// When a slowdown is too large, and how sure that must be.
struct OverheadRule {
  double limit = kOverheadLimit;
  std::size_t looks = 1;                 // at the passes while they are run; each of them may end it
  std::vector<std::string> stages = {};  // to be decided, as far as the passes have them; none of them: the longest

  // Of one look, so that all of them together are wrong in 5 % at most (Bonferroni).
  double confidence() const;
};

// After how many passes of each kind they are looked at: 3, 5, 8, 12. One look where `most` allows no more than `repeats`.
std::vector<int> overhead_looks(int repeats, int most);

// Nothing where no stage of a traced pass could be compared: more passes would not change that.
std::optional<OverheadDecision> decision_of(const Perturbation& measured, RepeatsEnd end, const OverheadRule& rule);

std::string limit_text(double limit);  // "5 %"

}  // namespace nl::analysis
