#include "analysis/verdicts/rules/fields.h"

#include <algorithm>

namespace nl::analysis::rules {
namespace {

std::vector<Field> make(RuleScope scope) {
  std::vector<Field> fields;
  switch (scope) {
    case RuleScope::kRun:
      add_time_fields(fields);
      add_run_fields(fields);
      break;
    case RuleScope::kStage:
      add_time_fields(fields);
      add_stage_fields(fields);
      break;
    case RuleScope::kKernel: add_kernel_fields(fields); break;
    case RuleScope::kOperator: add_operator_fields(fields); break;
  }
  return fields;
}

const MetricValues* values_of(MetricPlace place, const Subject& s) {
  switch (place) {
    case MetricPlace::kLaunch: return s.ncu() ? &s.ncu()->values : nullptr;
    case MetricPlace::kStage: return s.stage().counters ? &s.stage().counters->values : nullptr;
    case MetricPlace::kSampled: return s.stage().sampling ? &s.stage().sampling->values : nullptr;
  }
  return nullptr;
}

Value metric_value(const MetricInfo& info, const Subject& s) {
  const MetricValues* values = values_of(info.place, s);
  if (values == nullptr || !(*values)[info.metric]) return Value::not_captured();
  const double value = *(*values)[info.metric];
  return Value::of(info.unit == MetricUnit::kPercent ? value / 100 : value);
}

Unit unit_of(FigureUnit unit) {
  constexpr Unit kUnits[] = {Unit::kTime, Unit::kTime, Unit::kNumber, Unit::kShare, Unit::kShare, Unit::kCount, Unit::kJoules};
  return kUnits[static_cast<std::size_t>(unit)];
}

Place place_of(RunPart part) {
  constexpr Place kPlaces[] = {Place::kSelf, Place::kLatency, Place::kEfficiency, Place::kEnergy, Place::kClocks, Place::kServing};
  return kPlaces[static_cast<std::size_t>(part)];
}

}  // namespace

void add_figure_fields(RunMetricScope scope, RunPart part, std::vector<Field>& fields) {
  for (const RunMetricInfo& info : run_metric_table())
    if (!info.uses.rule.empty() && info.scope == scope && info.part == part)
      fields.push_back(
          {info.uses.rule, Type::kNumber, unit_of(info.unit), info.needs, place_of(part), info.help,
           [&info](const Subject& s) { return Value::of(info.read({*s.run, s.scope == RuleScope::kStage ? &s.stage() : nullptr})); }});
}

void add_metric_fields(MetricPlace place, std::vector<Field>& fields) {
  const bool launch = place == MetricPlace::kLaunch, stage = place == MetricPlace::kStage;
  const Capture capture = launch ? Capture::kNcu : stage ? Capture::kCounters : Capture::kSampling;
  const Place where = launch ? Place::kNcu : stage ? Place::kCounters : Place::kSampling;
  for (const MetricInfo& info : metrics_of(place))
    if (!info.rule_field.empty())
      fields.push_back({info.rule_field, Type::kNumber, info.unit == MetricUnit::kPercent ? Unit::kShare : Unit::kBytes, capture, where,
                        info.help, [&info](const Subject& s) { return metric_value(info, s); }});
}

const std::vector<Field>& fields_of(RuleScope scope) {
  static const std::vector<Field> all[] = {make(RuleScope::kRun), make(RuleScope::kStage), make(RuleScope::kKernel),
                                           make(RuleScope::kOperator)};
  return all[static_cast<int>(scope)];
}

const Field* find_field(RuleScope scope, std::string_view name) {
  const auto& fields = fields_of(scope);
  const auto found = std::find_if(fields.begin(), fields.end(), [&](const Field& field) { return field.name == name; });
  return found == fields.end() ? nullptr : &*found;
}

std::string_view unit_word(Unit unit) {
  constexpr std::string_view kWords[] = {"number", "share", "time", "bytes", "count", "FLOP", "FLOP/s", "MHz", "W", "J", "°C", "text"};
  return kWords[static_cast<std::size_t>(unit)];
}

}  // namespace nl::analysis::rules
