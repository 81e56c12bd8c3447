#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/verdicts/rules/expression.h"
#include "analysis/verdicts/rules/text.h"
#include "model/rule.h"

namespace nl::analysis::rules {

struct CompiledEvidence {
  Expression when;
  Sentence text;
  double weight = 1;
  bool optional = false;
};

struct CompiledAdvice {
  std::optional<Expression> when;
  Sentence text;
};

// A rule whose texts have been understood.
struct CompiledRule {
  const RuleSpec* spec = nullptr;
  std::optional<Expression> where;
  Expression condition;
  std::vector<std::pair<std::optional<Expression>, Severity>> severity;
  Sentence message;
  std::vector<CompiledAdvice> plain, action;
  std::vector<CompiledEvidence> evidence;
  std::vector<CompiledAdvice> suggestions;
  std::optional<Expression> gain;
  std::optional<Sentence> gain_note;
};

struct RuleFault {
  std::string part;  // "condition", "message" …
  RuleText text;     // and where it stands
  Fault fault;       // and what is wrong inside it
};

struct Compiled {
  std::optional<CompiledRule> rule;  // empty: there is a fault. Refers to the spec.
  RuleFault fault;
};
Compiled compile_rule(const RuleSpec& spec);

}  // namespace nl::analysis::rules
