#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/verdicts/rules/subject.h"
#include "analysis/verdicts/rules/value.h"
#include "model/metrics.h"
#include "model/run_metrics.h"

namespace nl::analysis::rules {

inline constexpr Type kN = Type::kNumber;  // of nearly all fields

enum class Unit { kNumber, kShare, kTime, kBytes, kCount, kFlops, kFlopsPerS, kMegahertz, kWatts, kJoules, kCelsius, kWords };

using Capture = CaptureNeed;  // what puts a field into a capture; capture_command() names the command

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

// Nothing where there is none. "run.span" reads the run's field from any scope: see expression.h.
const Field* find_field(RuleScope scope, std::string_view name);

std::string_view unit_word(Unit unit);

// One file each.
void add_metric_fields(MetricPlace place, std::vector<Field>& fields);  // one for each of model/metrics that rules may ask for
// Of model/run_metrics: one for each that rules may ask for.
void add_figure_fields(RunMetricScope scope, RunPart part, std::vector<Field>& fields);
void add_time_fields(std::vector<Field>& fields);                   // of the run and of a stage alike
void add_communication_fields(std::vector<Field>& fields);          // of the run and of a stage alike: a part of the time fields
void add_stage_communication_fields(std::vector<Field>& fields);    // a part of the stage's
void add_capture_communication_fields(std::vector<Field>& fields);  // a part of the run's
void add_host_fields(std::vector<Field>& fields);                   // a part of the stage's
void add_host_code_fields(std::vector<Field>& fields);              // a part of the stage's
void add_run_fields(std::vector<Field>& fields);
void add_stage_fields(std::vector<Field>& fields);
void add_kernel_fields(std::vector<Field>& fields);
void add_operator_fields(std::vector<Field>& fields);
void add_node_fields(std::vector<Field>& fields);      // a part of the operator's
void add_run_node_fields(std::vector<Field>& fields);  // a part of the run's

}  // namespace nl::analysis::rules
