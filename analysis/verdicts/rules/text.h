#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analysis/verdicts/rules/expression.h"

namespace nl::analysis::rules {

// "63 %", "4.2 ms", "1.5 GB", "1,234"
std::string value_text(const Value& value, Type type, Unit unit);

// A sentence with {expressions} in it: "{launch_starved_share} of a step, {gpu_idle_time / windows:time} each".
class Sentence {
 public:
  struct Parsed;
  static Parsed parse(std::string_view text, RuleScope scope);

  std::string text(const Subject& subject) const;

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

}  // namespace nl::analysis::rules
