#pragma once

#include <string>

#include "model/rule.h"

namespace nl::test {

inline RuleText rule_text(const std::string& words) { return {words, 1, 1}; }

// A rule with all that it must have; `gain`: none where it is empty.
inline RuleSpec made_rule(RuleScope scope, const std::string& condition, const std::string& gain = {},
                          Severity severity = Severity::kHigh) {
  RuleSpec spec;
  spec.name = "r";
  spec.scope = scope;
  spec.condition = rule_text(condition);
  spec.severity = {{std::nullopt, severity}};
  spec.message = rule_text("m");
  spec.suggestions = {{rule_text("a")}, {rule_text("b")}};
  if (!gain.empty()) spec.gain = rule_text(gain);
  return spec;
}

}  // namespace nl::test
