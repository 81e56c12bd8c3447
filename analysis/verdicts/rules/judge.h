#pragma once

#include <vector>

#include "model/rule.h"
#include "model/run.h"

namespace nl::analysis {

struct Judgement {
  std::vector<Finding> findings;        // what is worth the most first
  std::vector<Abstention> abstentions;  // the rules that no subject has the captured inputs for
};

// The findings of the rules about a run whose figures are all set. Error(kConfig) for rules that load_rules() would have refused.
Judgement judge(const Rules& rules, const Run& run);

// The summary of a run whose findings, overhead and energy are set.
RunSummary run_summary(const Run& run);

}  // namespace nl::analysis
