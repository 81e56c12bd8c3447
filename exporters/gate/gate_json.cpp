#include <nlohmann/json.hpp>

#include "exporters/gate/gate_reports.h"
#include "model/comparison.h"

namespace nl::exporters {
namespace {

using nlohmann::ordered_json;

ordered_json number_or_null(const std::optional<double>& value) { return value ? ordered_json(*value) : ordered_json(nullptr); }

ordered_json source_json(const ExpectationSource& from) {
  ordered_json out = {
      {"run", from.run}, {"commit", from.commit}, {"nl_stage", from.nl_stage}, {"captured_by", from.captured_by}, {"model", from.model}};
  for (const WorkloadFact& fact : kWorkloadFacts) out[fact.key] = from.*fact.value;
  return out;
}

ordered_json line_json(const GateLine& line) {
  const auto& other = line.not_comparable;
  return {{"metric", line.metric},
          {"outcome", key_of(line.outcome)},
          {"value", number_or_null(line.value)},
          {"values", line.values},
          {"expected", number_or_null(line.expected)},
          {"low", number_or_null(line.low)},
          {"high", number_or_null(line.high)},
          {"change", number_or_null(line.change())},
          {"unit", key_of(line.info->unit)},
          {"better", key_of(line.info->better)},
          {"line", line.line > 0 ? ordered_json(line.line) : ordered_json(nullptr)},
          {"not_comparable",
           other ? ordered_json{{"what", other->key}, {"expected", other->expected}, {"given", other->given}} : ordered_json(nullptr)},
          {"provenance", source_json(line.from)}};
}

}  // namespace

std::string gate_json(const GateReport& report) {
  ordered_json out = {
      {"passed", report.passed()}, {"expectations", report.file}, {"results", ordered_json::array()}, {"changes", ordered_json::array()}};
  for (const GateResult& result : report.results) {
    ordered_json lines = ordered_json::array();
    for (const GateLine& line : result.lines) lines.push_back(line_json(line));
    out["results"].push_back({{"hardware", result.hardware}, {"runs", result.runs}, {"lines", std::move(lines)}});
  }
  for (const GateChange& change : report.changes)
    out["changes"].push_back(
        {{"hardware", change.hardware}, {"metric", change.metric}, {"before", number_or_null(change.before)}, {"after", change.after}});
  out["changed_files"] = report.changed_files;
  out["notes"] = report.notes;
  return out.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace nl::exporters
