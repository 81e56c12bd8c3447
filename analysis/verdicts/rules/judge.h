#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "model/prediction.h"
#include "model/rule.h"
#include "model/run.h"

namespace nl::analysis {
namespace rules {
struct CompiledRule;
}

struct Judgement {
  std::vector<Finding> findings;        // what is worth the most first
  std::vector<Abstention> abstentions;  // the rules that no subject has the captured inputs for
};

// Rules whose texts are parsed, once for all the runs that are judged by them. Refers to the rules. Error(kConfig) for rules that
// load_rules() would have refused.
class ParsedRules {
 public:
  explicit ParsedRules(const Rules& rules);
  ~ParsedRules();
  const std::vector<rules::CompiledRule>& list() const { return list_; }

 private:
  std::vector<rules::CompiledRule> list_;
};

// What a stage would take after a change, as an argument of `nl-stage whatif`; nothing where there is no prediction.
using PredictChange = std::function<std::optional<Prediction>(const std::string& stage, const std::string& change)>;

// The findings of the rules about a run whose figures are all set.
Judgement judge(const ParsedRules& rules, const Run& run, const PredictChange& predict = {});
Judgement judge(const Rules& rules, const Run& run, const PredictChange& predict = {});

// The summary of a run whose findings, overhead and energy are set.
RunSummary run_summary(const Run& run);

}  // namespace nl::analysis
