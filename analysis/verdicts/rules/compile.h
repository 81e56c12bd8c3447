#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/verdicts/rules/expression.h"
#include "model/rule.h"

namespace nl::analysis::rules {

// "63 %", "4.2 ms", "1.5 GB", "1,234"
std::string value_text(const Value& value, Type type, Unit unit);

// A sentence with {expressions} in it: "{launch_starved_share} of a step, {gpu_idle_time / windows:time} each".
class Sentence {
 public:
  struct Parsed;
  static Parsed parse(std::string_view text, RuleScope scope);

  std::string text(const Subject& subject) const;
  bool known(const Subject& subject) const;  // all values in it

 private:
  struct Piece {
    std::string before;                    // plain text
    std::optional<Expression> expression;  // and what follows it
    Unit unit = Unit::kNumber;
    std::string one, many;  // what it counts: "copy", "copies"
  };
  std::vector<Piece> pieces_;
};

struct Sentence::Parsed {
  std::optional<Sentence> sentence;  // empty: there is a fault
  Fault fault;
};

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

// A rule whose texts have been parsed.
struct CompiledRule {
  const RuleSpec* spec = nullptr;
  std::optional<Expression> where;
  Expression condition;
  std::vector<std::pair<std::optional<Expression>, Severity>> severity;
  Sentence cause, message;
  std::vector<CompiledAdvice> plain, action;
  std::vector<CompiledEvidence> evidence;
  std::vector<CompiledAdvice> suggestions;
  std::optional<Expression> gain;
  std::optional<Sentence> gain_note;
  std::vector<CompiledAdvice> predict;
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
