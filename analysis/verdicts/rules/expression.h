#pragma once

#include <optional>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/verdicts/rules/fields.h"

// Expressions over the fields of a scope:
//   launch_starved_share > 30% and mean_time < 10ms and not has_steps
//   h2d_time / total_time > 0.3 or matches(name, "memcpy|copy_")
namespace nl::analysis::rules {

enum class Op : std::uint8_t {
  kNumber,
  kText,
  kTruth,
  kField,
  kMetric,
  kKnown,
  kMatches,
  kContains,
  kMin,
  kMax,
  kAbs,
  kMinus,
  kNot,
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,
  kEqual,
  kUnequal,
  kLess,
  kLessEqual,
  kMore,
  kMoreEqual,
  kAnd,
  kOr,
};

struct Node {
  Op op = Op::kNumber;
  Type type = Type::kNumber;
  int left = -1, right = -1;  // indices of nodes
  double number = 0;
  bool truth = false;
  bool of_run = false;  // a field of the run, asked for from another scope
  const Field* field = nullptr;
  std::string text;  // a text, the name of a metric
  std::optional<std::regex> pattern;
};

// Why a text is not a valid expression.
struct Fault {
  std::string what;
  std::size_t at = 0;                   // character, counted from 0
  std::string word;                     // an unknown name, and
  std::vector<std::string> candidates;  // what may have been meant
};

class Expression {
 public:
  struct Missing {
    std::string name;  // of a field or a metric
    Capture capture = Capture::kAlways;
    friend auto operator<=>(const Missing&, const Missing&) = default;
  };

  Type type() const { return nodes_[static_cast<std::size_t>(root_)].type; }
  Unit unit() const;                                                                    // of the field, where it is a single one
  const Field* field() const { return nodes_[static_cast<std::size_t>(root_)].field; }  // where it is a single one
  Place place() const;                                                                  // of the first field in it
  // The value of the expression. Where it is unknown because something was not captured, adds that to `missing`.
  Value evaluate(const Subject& subject, std::vector<Missing>& missing) const;

 private:
  friend class Parser;
  Value value(int index, const Subject& subject, std::vector<Missing>& missing) const;
  Value logic(const Node& node, const Subject& subject, std::vector<Missing>& missing) const;
  Value read(const Node& node, const Subject& subject, std::vector<Missing>& missing) const;

  std::vector<Node> nodes_;
  int root_ = -1;
};

struct Parsed {
  std::optional<Expression> expression;  // empty: there is a fault
  Fault fault;
};
Parsed parse_expression(std::string_view text, RuleScope scope);

}  // namespace nl::analysis::rules
