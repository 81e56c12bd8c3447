#pragma once

#include <cmath>
#include <concepts>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "analysis/verdicts/rules/subject.h"
#include "model/metrics.h"
#include "model/run_metrics.h"

namespace nl::analysis::rules {

enum class Type : std::uint8_t { kNumber, kTruth, kText };

// The value of an expression. It is not known where something it depends on was not captured, or where it has no value
// (a division by zero, the mean of nothing).
struct Value {
  bool known = false;
  bool captured = false;
  bool truth = false;
  double number = 0;
  std::string_view text;  // of the run or of the expression: valid as long as both are

  static Value not_captured() { return {}; }
  static Value none() { return {false, true, false, 0, {}}; }
  static Value of(double value) { return std::isfinite(value) ? Value{true, true, false, value, {}} : none(); }
  static Value of_truth(bool value) { return {true, true, value, 0, {}}; }
  static Value of_text(std::string_view value) { return {true, true, false, 0, value}; }
  template <std::same_as<std::string> Temporary>  // a value refers to its text
  static Value of_text(Temporary&&) = delete;
  template <class T>
    requires std::is_integral_v<T>
  static Value of(T value) {
    return of(static_cast<double>(value));
  }
  template <class T>
  static Value of(const std::optional<T>& value) {
    return value ? of(*value) : not_captured();
  }
  // The quotient; no value where the divisor is not above zero.
  template <class T>
  Value over(T whole) const {
    if (!known) return *this;
    return whole > 0 ? of(number / static_cast<double>(whole)) : none();
  }
};

enum class Unit { kNumber, kShare, kTime, kBytes, kCount, kFlops, kFlopsPerS, kMegahertz, kWatts, kJoules, kCelsius, kWords };

using Capture = CaptureNeed;  // what puts a field into a capture

// "needs kernel counters (ncu or the collector), and the model's shape"
std::string capture_reason(const std::set<Capture>& captures, const Run& run);
// The command that would capture them: nl-stage run with the workload's own command behind it. Empty where it was just
// tried and refused; the reason then says why, and what to do.
std::string capture_command(const std::set<Capture>& captures, const Run& run);

struct Field {
  std::string_view name;
  Type type = Type::kNumber;
  Unit unit = Unit::kNumber;
  Capture capture = Capture::kAlways;
  Place place = Place::kSelf;
  std::string_view help;
  std::function<Value(const Subject&)> read;
  std::function<std::string(const Subject&)> shown = {};  // in sentences, where that is more than what conditions compare
};

// The fields of a scope, in the order of docs/rules.md.
const std::vector<Field>& fields_of(RuleScope scope);

// nullptr where the scope has no such field. "run.span" reads the run's field from any scope: see expression.h.
const Field* find_field(RuleScope scope, std::string_view name);

std::string_view unit_word(Unit unit);

using Read = Value (*)(const Subject&);

// Adds fields that come with one capture and stand in one place.
class FieldGroup {
 public:
  FieldGroup(std::vector<Field>& fields, Capture capture, Place place) : fields_(fields), capture_(capture), place_(place) {}

  void operator()(std::string_view name, Unit unit, std::string_view help, Read read) const {
    fields_.push_back({name, Type::kNumber, unit, capture_, place_, help, read});
  }
  void text(std::string_view name, std::string_view help, Read read, std::function<std::string(const Subject&)> shown = {}) const {
    fields_.push_back({name, Type::kText, Unit::kWords, capture_, place_, help, read, std::move(shown)});
  }
  void truth(std::string_view name, std::string_view help, Read read) const {
    fields_.push_back({name, Type::kTruth, Unit::kWords, capture_, place_, help, read});
  }

 private:
  std::vector<Field>& fields_;
  Capture capture_;
  Place place_;
};

// A member of what `Find` finds for the subject; not captured where it finds nothing.
template <auto Find, auto Member>
Value member_of(const Subject& s) {
  const auto* found = std::invoke(Find, s);
  return found != nullptr ? Value::of(std::invoke(Member, *found)) : Value::not_captured();
}
// A member of a time summary; no value where the thing never ran, or ran too seldom for a percentile.
template <auto Member>
Value member_of_times(const TimeSummary& times) {
  const std::optional<double> value = std::invoke(Member, times);
  return times.count > 0 && value ? Value::of(*value) : Value::none();
}
template <class T>
const T* pointer_into(const std::optional<T>& value) {
  return value ? &*value : nullptr;
}

void add_metric_fields(MetricPlace place, std::vector<Field>& fields);  // one for each of model/metrics that rules may ask for
// Adds a field for each figure of model/run_metrics that rules may ask for.
void add_figure_fields(RunMetricScope scope, RunPart part, std::vector<Field>& fields);
void add_time_fields(std::vector<Field>& fields);                   // of the run and of a stage alike
void add_communication_fields(std::vector<Field>& fields);          // of the run and of a stage alike: a part of the time fields
void add_stage_communication_fields(std::vector<Field>& fields);    // a part of the stage's
void add_capture_communication_fields(std::vector<Field>& fields);  // a part of the run's
void add_host_fields(std::vector<Field>& fields);                   // a part of the stage's
void add_run_fields(std::vector<Field>& fields);
void add_stage_fields(std::vector<Field>& fields);
void add_kernel_fields(std::vector<Field>& fields);
void add_operator_fields(std::vector<Field>& fields);
void add_run_node_fields(std::vector<Field>& fields);       // a part of the run's
void add_software_fields(std::vector<Field>& fields);       // a part of the run's
void add_serving_fields(std::vector<Field>& fields);        // a part of the run's
void add_stage_copy_fields(std::vector<Field>& fields);     // a part of the stage's
void add_operator_copy_fields(std::vector<Field>& fields);  // a part of the operator's

}  // namespace nl::analysis::rules
