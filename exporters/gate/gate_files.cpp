#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

#include "exporters/gate/gate_reports.h"
#include "exporters/report/html/html.h"
#include "model/comparison_keys.h"
#include "model/words.h"

namespace nl::exporters {
namespace {

using nlohmann::ordered_json;

// "tpot_ms regressed: 4.60 ms, 8.0 % more than the expected 4.26 ms (met from 4.05 ms to 4.47 ms)"
std::string line_sentence(const GateLine& line, const std::string& hardware) {
  const auto value = [&](const std::optional<double>& number) { return metric_value_text(*line.info, *number); };
  if (line.outcome == GateOutcome::kMissing && line.not_comparable)
    return fmt::format("{} on {} is {}", line.metric, hardware, not_comparable_text(*line.not_comparable));
  if (line.outcome == GateOutcome::kMissing)
    return fmt::format("{} is missing on {}; {} was expected", line.metric, hardware, value(line.expected));
  if (line.outcome == GateOutcome::kNew) return fmt::format("{} is new on {}: {}", line.metric, hardware, value(line.value));
  const auto change = line.change();
  const std::string by = change ? fmt::format("{:.1f} % {} than", std::abs(*change) * 100, *change > 0 ? "more" : "less") : "not";
  return fmt::format("{} {} on {}: {}, {} the expected {} (met from {} to {})", line.metric, key_of(line.outcome), hardware,
                     value(line.value), by, value(line.expected), value(line.low), value(line.high));
}

// https://github.com/actions/toolkit/blob/main/packages/core/src/command.ts: what ends a message or a property is percent-encoded.
std::string command_text(const std::string& text, bool property) {
  std::string out;
  for (const char c : text)
    if (c == '%' || c == '\r' || c == '\n' || (property && (c == ':' || c == ',')))
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    else out += c;
  return out;
}

std::string test_case(const GateResult& result, const GateLine& line) {
  using html::attribute;
  std::string out = "    <testcase" + attribute("classname", "gate." + result.hardware) + attribute("name", line.metric);
  const std::string sentence = line_sentence(line, result.hardware);
  if (line.failed())
    return out + ">\n      <failure" + attribute("type", key_of(line.outcome)) + attribute("message", sentence) + "/>\n    </testcase>\n";
  if (line.outcome == GateOutcome::kNew) return out + ">\n      <skipped" + attribute("message", sentence) + "/>\n    </testcase>\n";
  return out + ">\n      <system-out>" + html::text(sentence) + "</system-out>\n    </testcase>\n";
}

std::size_t count_if_line(const GateResult& result, bool (*matches)(const GateLine&)) {
  return static_cast<std::size_t>(std::count_if(result.lines.begin(), result.lines.end(), matches));
}

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

std::string gate_annotations(const GateReport& report) {
  std::string out;
  for (const GateResult& result : report.results)
    for (const GateLine& line : result.lines) {
      if (line.outcome == GateOutcome::kMet) continue;
      const std::string place = line.line > 0 ? fmt::format(",line={}", line.line) : "";
      out += fmt::format("::{} file={}{},title={}::{}\n", line.failed() ? "error" : "notice", command_text(report.file, true), place,
                         command_text(fmt::format("{} {}", line.metric, key_of(line.outcome)), true),
                         command_text(line_sentence(line, result.hardware), false));
    }
  return out;
}

std::string gate_junit(const GateReport& report) {
  std::string out = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"nl-stage gate\">\n";
  for (const GateResult& result : report.results) {
    const auto failures = count_if_line(result, [](const GateLine& line) { return line.failed(); });
    const auto skipped = count_if_line(result, [](const GateLine& line) { return line.outcome == GateOutcome::kNew; });
    out += fmt::format("  <testsuite{} tests=\"{}\" failures=\"{}\" errors=\"0\" skipped=\"{}\">\n",
                       html::attribute("name", result.hardware), result.lines.size(), failures, skipped);
    for (const GateLine& line : result.lines) out += test_case(result, line);
    out += "  </testsuite>\n";
  }
  return out + "</testsuites>\n";
}

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
