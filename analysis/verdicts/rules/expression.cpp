#include "analysis/verdicts/rules/expression.h"

#include <algorithm>
#include <cctype>
#include <cmath>

namespace nl::analysis::rules {
namespace {

// Names of templated kernels run to many thousands of characters; what tells them apart comes early.
constexpr std::size_t kMatchedCharacters = 2000;

bool same_letter(char a, char b) { return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b)); }

bool contains(std::string_view text, std::string_view part) {
  return std::search(text.begin(), text.end(), part.begin(), part.end(), same_letter) != text.end();
}

bool matches(std::string_view text, const std::regex& pattern) {
  const std::string_view head = text.substr(0, kMatchedCharacters);
  return std::regex_search(head.begin(), head.end(), pattern);
}

Value compare(Op op, const Value& a, const Value& b, Type type) {
  if (!a.known || !b.known) return a.captured && b.captured ? Value::none() : Value::not_captured();
  const int order = type == Type::kText    ? a.text.compare(b.text)
                    : type == Type::kTruth ? a.truth - b.truth
                                           : (a.number > b.number) - (a.number < b.number);
  switch (op) {
    case Op::kEqual: return Value::of_truth(order == 0);
    case Op::kUnequal: return Value::of_truth(order != 0);
    case Op::kLess: return Value::of_truth(order < 0);
    case Op::kLessEqual: return Value::of_truth(order <= 0);
    case Op::kMore: return Value::of_truth(order > 0);
    default: return Value::of_truth(order >= 0);
  }
}

Value compute(Op op, const Value& a, const Value& b) {
  if (!a.known || !b.known) return a.captured && b.captured ? Value::none() : Value::not_captured();
  switch (op) {
    case Op::kAdd: return Value::of(a.number + b.number);
    case Op::kSubtract: return Value::of(a.number - b.number);
    case Op::kMultiply: return Value::of(a.number * b.number);
    case Op::kDivide: return b.number == 0 ? Value::none() : Value::of(a.number / b.number);
    case Op::kMin: return Value::of(std::min(a.number, b.number));
    default: return Value::of(std::max(a.number, b.number));
  }
}

// Whether a field is a share of a trace, a sum over it, or says what is absent from it. What ncu, NVML and unprofiled runs
// measured does not depend on how much of the trace is left.
bool asks_of_whole(Capture capture) {
  switch (capture) {
    case Capture::kStages:
    case Capture::kCuda:
    case Capture::kOperators:
    case Capture::kModel:
    case Capture::kIterations:
    case Capture::kSampling:
    case Capture::kHostStacks:
    case Capture::kRequests:
    case Capture::kWhole: return true;
    case Capture::kAlways:
    case Capture::kNcu:
    case Capture::kBare:
    case Capture::kNvml:
    case Capture::kCounters: return false;
  }
  return false;
}

}  // namespace

Unit Expression::unit() const { return field() ? field()->unit : type() == Type::kNumber ? Unit::kNumber : Unit::kWords; }

Place Expression::place() const {
  for (const Node& node : nodes_) {
    if (node.op == Op::kMetric) return Place::kNcu;
    if (node.field && node.field->place != Place::kSelf) return node.field->place;
  }
  return Place::kSelf;
}

Value Expression::evaluate(const Subject& subject, std::vector<Missing>& missing) const {
  const std::size_t before = missing.size();
  const Value result = value(root_, subject, missing);
  if (result.known) missing.resize(before);
  return result;
}

// What was not captured does not matter where the other side decides.
Value Expression::logic(const Node& node, const Subject& subject, std::vector<Missing>& missing) const {
  const bool decisive = node.op == Op::kOr;
  const std::size_t before = missing.size();
  const Value left = value(node.left, subject, missing);
  if (left.known && left.truth == decisive) return left;
  const Value right = value(node.right, subject, missing);
  if (right.known && right.truth == decisive) {
    missing.resize(before);
    return right;
  }
  if (left.known && right.known) return Value::of_truth(!decisive);
  return left.captured && right.captured ? Value::none() : Value::not_captured();
}

Value Expression::read(const Node& node, const Subject& subject, std::vector<Missing>& missing) const {
  if (node.op == Op::kMetric) {
    const NcuSample* sample = subject.ncu();
    const auto found = sample ? sample->metrics.find(node.text) : std::map<std::string, double>::const_iterator();
    if (sample && found != sample->metrics.end()) return Value::of(found->second);
    missing.push_back({node.text, Capture::kNcu});
    return Value::not_captured();
  }
  if (subject.totals->incomplete && asks_of_whole(node.field->capture)) {
    missing.push_back({std::string(node.of_run ? "run." : "") + std::string(node.field->name), Capture::kWhole});
    return Value::not_captured();
  }
  const Value result = node.field->read(node.of_run ? subject.of_run() : subject);
  if (!result.captured) missing.push_back({std::string(node.of_run ? "run." : "") + std::string(node.field->name), node.field->capture});
  return result;
}

Value Expression::value(int index, const Subject& subject, std::vector<Missing>& missing) const {
  const Node& node = nodes_[static_cast<std::size_t>(index)];
  switch (node.op) {
    case Op::kNumber: return Value::of(node.number);
    case Op::kText: return Value::of_text(node.text);
    case Op::kTruth: return Value::of_truth(node.truth);
    case Op::kField:
    case Op::kMetric: return read(node, subject, missing);
    case Op::kAnd:
    case Op::kOr: return logic(node, subject, missing);
    case Op::kKnown: {
      std::vector<Missing> ignored;
      return Value::of_truth(value(node.left, subject, ignored).known);
    }
    default: break;
  }
  const Value left = value(node.left, subject, missing);
  if (node.right >= 0) {
    const Value right = value(node.right, subject, missing);
    return node.type == Type::kTruth ? compare(node.op, left, right, nodes_[static_cast<std::size_t>(node.left)].type)
                                     : compute(node.op, left, right);
  }
  if (!left.known) return left;
  switch (node.op) {
    case Op::kNot: return Value::of_truth(!left.truth);
    case Op::kMinus: return Value::of(-left.number);
    case Op::kAbs: return Value::of(std::abs(left.number));
    case Op::kMatches: return Value::of_truth(matches(left.text, *node.pattern));
    default: return Value::of_truth(contains(left.text, node.text));
  }
}

}  // namespace nl::analysis::rules
