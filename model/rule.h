#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/finding.h"

// A rule as it is written: texts with their places, not yet understood. docs/rules.md describes each part.
namespace nl {

struct RuleText {  // an expression, or a sentence with {fields} in it
  std::string text;
  int line = 0, column = 0;  // in its file
};

struct RuleSeverity {
  std::optional<RuleText> when;  // the first that holds decides; the last one has none
  Severity severity = Severity::kInfo;
};

struct RuleEvidence {
  RuleText when, text;
  double weight = 1;
  bool optional = false;  // where it is not captured, it is left out
};

struct RuleAdvice {  // a sentence that holds only in some cases, such as "use CUDA graphs"
  RuleText text;
  std::optional<RuleText> when = {};  // empty: always
};

struct RuleSpec {
  std::string name;
  std::string file;
  int line = 0;
  RuleScope scope = RuleScope::kRun;
  RuleAbout about = RuleAbout::kWorkload;
  std::string cause;              // see Finding
  std::optional<RuleText> where;  // which subjects it looks at; empty: all of its scope
  RuleText condition;
  double condition_weight = 1;  // of the confidence
  std::vector<RuleSeverity> severity;
  RuleText message;
  std::vector<RuleAdvice> plain;   // the same, for people who never saw a profiler: the first that holds; may be empty
  std::vector<RuleAdvice> action;  // what to do about it: the first sentence whose condition holds
  std::vector<RuleEvidence> evidence;
  std::vector<RuleAdvice> suggestions;  // all that hold
  std::optional<RuleText> gain;         // nanoseconds of the subject's time
  std::optional<RuleText> gain_note;
  std::uint64_t limit = 3;  // findings of this rule, the ones with the most to gain first
};

struct Rules {  // checked by load_rules(), of orchestrator/config/rules_file.h
  std::vector<RuleSpec> list;
};

}  // namespace nl
