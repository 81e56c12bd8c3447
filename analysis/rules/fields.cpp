#include "analysis/rules/fields.h"

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

}  // namespace

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
  switch (unit) {
    case Unit::kNumber: return "number";
    case Unit::kShare: return "share";
    case Unit::kTime: return "time";
    case Unit::kBytes: return "bytes";
    case Unit::kCount: return "count";
    case Unit::kFlops: return "FLOP";
    case Unit::kFlopsPerS: return "FLOP/s";
    case Unit::kMegahertz: return "MHz";
    case Unit::kWatts: return "W";
    case Unit::kJoules: return "J";
    case Unit::kCelsius: return "°C";
    case Unit::kWords: return "text";
  }
  return "";
}

}  // namespace nl::analysis::rules
