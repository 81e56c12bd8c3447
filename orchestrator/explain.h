#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analysis/verdicts/rules/fields.h"
#include "model/error_code.h"
#include "model/glossary.h"
#include "model/rule.h"
#include "model/run_metrics.h"
#include "orchestrator/config/keys.h"

// What a word of the reports, of run.json or of a rule means: `nl-stage explain`.
namespace nl::orchestrator {

struct ExplainedField {  // of rules
  RuleScope scope = RuleScope::kRun;
  const analysis::rules::Field* field = nullptr;
};

struct ExplainedRule {
  const RuleSpec* spec = nullptr;
  std::vector<ExplainedField> fields;  // that its condition reads, each once
};

// All that goes by one name.
struct Explanation {
  std::vector<const GlossaryEntry*> terms;
  std::vector<const RunMetricInfo*> metrics;
  std::vector<ExplainedRule> rules;
  std::vector<ExplainedField> fields;
  std::vector<const ConfigKey*> settings;
  std::vector<const ErrorCodeInfo*> codes;
  bool empty() const { return terms.empty() && metrics.empty() && rules.empty() && fields.empty() && settings.empty() && codes.empty(); }
};

// Whatever its case, and with blanks, hyphens and underscores alike: "launch starved" is launch-starved. The rules must outlive the result.
Explanation explain(std::string_view name, const Rules& rules);

// Every name that explain() knows, each once: to complete and to correct one.
std::vector<std::string> explained_names(const Rules& rules);

}  // namespace nl::orchestrator
