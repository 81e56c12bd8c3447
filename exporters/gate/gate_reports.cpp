#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

#include "exporters/gate/gate_reports.h"
#include "exporters/report/html/html.h"
#include "exporters/report/text/figure_text.h"
#include "exporters/report/text/markdown.h"
#include "model/comparison.h"
#include "model/text_table.h"
#include "model/visible_text.h"
#include "model/words.h"

namespace nl::exporters {
namespace {

using nlohmann::ordered_json;

std::string line_value(const GateLine& line, const std::optional<double>& value) {
  return value ? metric_value_text(*line.info, *value) : kNoValue;
}

std::string line_change(const GateLine& line) {
  const auto change = line.change();
  return change ? signed_percent(*change) : kNoValue;
}

// "3.90 ms to 4.10 ms"
std::string line_range(const GateLine& line) {
  return line.low ? fmt::format("{} to {}", line_value(line, line.low), line_value(line, line.high)) : kNoValue;
}

std::string result_title(const GateResult& result) {
  return fmt::format("{}, {}", visible_line(result.hardware), visible_line(join(result.runs)));
}

// What failed first, then in the order of the file.
std::vector<const GateLine*> ordered(const GateResult& result) {
  std::vector<const GateLine*> out;
  for (const GateLine& line : result.lines) out.push_back(&line);
  std::stable_sort(out.begin(), out.end(), [](const GateLine* a, const GateLine* b) { return a->failed() && !b->failed(); });
  return out;
}

std::size_t count_of(const GateReport& report, GateOutcome outcome) {
  std::size_t count = 0;
  for (const GateResult& result : report.results)
    count += static_cast<std::size_t>(
        std::count_if(result.lines.begin(), result.lines.end(), [&](const GateLine& line) { return line.outcome == outcome; }));
  return count;
}

std::string changes_text(const GateReport& report) {
  std::string out;
  for (const GateChange& change : report.changes) {
    const RunMetricInfo& info = *find_metric(change.metric);
    const std::string after = metric_value_text(info, change.after);
    out += change.before ? fmt::format("{}, {}: {} is now {}\n", visible_line(change.hardware), visible_line(change.metric),
                                       metric_value_text(info, *change.before), after)
                         : fmt::format("{}, {}: now expected, {}\n", visible_line(change.hardware), visible_line(change.metric), after);
  }
  for (const std::string& file : report.changed_files) out += fmt::format("wrote {}\n", file);
  for (const std::string& note : report.notes) out += fmt::format("note: {}\n", note);
  return out;
}

// "not comparable: batch is 8, and the expectation is of 1 (tpot_ms, tokens_per_s)", a line each.
std::vector<std::string> differences_of(const GateResult& result) {
  std::vector<std::pair<std::string, std::vector<std::string>>> metrics;
  for (const GateLine& line : result.lines) {
    if (!line.not_comparable) continue;
    const std::string text = not_comparable_text(*line.not_comparable);
    if (metrics.empty() || metrics.back().first != text) metrics.push_back({text, {}});
    metrics.back().second.push_back(line.metric);
  }
  std::vector<std::string> out;
  for (const auto& [text, names] : metrics) out.push_back(fmt::format("{} ({})\n", text, join(names)));
  return out;
}

std::string table_text(const GateResult& result, std::size_t width) {
  TextTable table{{"outcome", "metric", "measured", "expected", "change", "allowed"}, {}, {false, false, true, true, true, true}, 2};
  for (const GateLine* line : ordered(result))
    table.rows.push_back({std::string(key_of(line->outcome)), line->metric, line_value(*line, line->value),
                          line_value(*line, line->expected), line_change(*line), line_range(*line)});
  return result_title(result) + "\n" + (table.rows.empty() ? "" : fitted(std::move(table), width).text) + join(differences_of(result), "");
}

// "tpot_ms regressed: 4.60 ms, 8.0 % more than the expected 4.26 ms (allowed: 4.05 ms to 4.47 ms)"
std::string line_sentence(const GateLine& line, const std::string& hardware) {
  const auto value = [&](const std::optional<double>& number) { return metric_value_text(*line.info, *number); };
  if (line.outcome == GateOutcome::kMissing && line.not_comparable)
    return fmt::format("{} on {} is {}", line.metric, hardware, not_comparable_text(*line.not_comparable));
  if (line.outcome == GateOutcome::kMissing)
    return fmt::format("{} is missing on {}; {} was expected", line.metric, hardware, value(line.expected));
  if (line.outcome == GateOutcome::kNew) return fmt::format("{} is new on {}: {}", line.metric, hardware, value(line.value));
  const auto change = line.change();
  if (line.outcome == GateOutcome::kUndecided)
    return fmt::format(
        "{} is undecided on {}: {} against the expected {} is outside of the tolerance, and runs of one build may differ as much; "
        "gate more runs",
        line.metric, hardware, value(line.value), value(line.expected));
  const std::string by = change ? fmt::format("{:.1f} % {} than", std::abs(*change) * 100, *change > 0 ? "more" : "less") : "not";
  return fmt::format("{} {} on {}: {}, {} the expected {} (allowed: {} to {})", line.metric, key_of(line.outcome), hardware,
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
  if (line.outcome == GateOutcome::kNew || line.outcome == GateOutcome::kUndecided)
    return out + ">\n      <skipped" + attribute("message", sentence) + "/>\n    </testcase>\n";
  return out + ">\n      <system-out>" + html::text(sentence) + "</system-out>\n    </testcase>\n";
}

std::size_t count_if_line(const GateResult& result, bool (*matches)(const GateLine&)) {
  return static_cast<std::size_t>(std::count_if(result.lines.begin(), result.lines.end(), matches));
}

ordered_json number_or_null(const std::optional<double>& value) { return value ? ordered_json(*value) : ordered_json(nullptr); }

ordered_json source_json(const ExpectationSource& from) {
  ordered_json out = {
      {"run", from.run}, {"commit", from.commit}, {"nl_stage", from.nl_stage}, {"captured_by", from.captured_by}, {"model", from.model}};
  for (const WorkloadFact& fact : kWorkloadFacts) out[std::string(fact.key())] = from.*fact.value;
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
          {"likely_low", number_or_null(line.likely_low)},
          {"likely_high", number_or_null(line.likely_high)},
          {"change", number_or_null(line.change())},
          {"unit", key_of(line.info->unit)},
          {"better", key_of(line.info->better)},
          {"line", line.line > 0 ? ordered_json(line.line) : ordered_json(nullptr)},
          {"not_comparable",
           other ? ordered_json{{"what", other->key}, {"expected", other->expected}, {"given", other->given}} : ordered_json(nullptr)},
          {"provenance", source_json(line.from)}};
}

}  // namespace

std::string metric_value_text(const RunMetricInfo& info, double value) {
  return figure_text(value, std::string(key_of(info.unit)).c_str());
}

std::string not_comparable_text(const WorkloadDifference& difference) {
  return fmt::format("not comparable: {} is {}, and the expectation is of {}", difference.key, difference.given, difference.expected);
}

std::string gate_verdict(const GateReport& report) {
  std::vector<std::string> parts;
  for (const GateOutcome outcome : {GateOutcome::kRegressed, GateOutcome::kMissing, GateOutcome::kUndecided, GateOutcome::kImproved,
                                    GateOutcome::kNew, GateOutcome::kMet})
    if (const std::size_t count = count_of(report, outcome)) parts.push_back(fmt::format("{} {}", count, key_of(outcome)));
  if (parts.empty()) parts.emplace_back("nothing is expected of this hardware");
  return fmt::format("{}: {}.", report.passed() ? "Passed" : "Failed", join(parts));
}

std::string gate_text(const GateReport& report, std::size_t width) {
  std::string out;
  for (const GateResult& result : report.results) out += table_text(result, width);
  return out + changes_text(report);
}

std::string gate_markdown(const GateReport& report) {
  std::string out = fmt::format("**{}**\n", markdown_text(gate_verdict(report)));
  for (const GateResult& result : report.results) {
    out += fmt::format(
        "\n### {}\n\n| Metric | Outcome | Measured | Expected | Change | Met from | Runs |\n| --- | --- | ---: | ---: | ---: | --- | ---: "
        "|\n",
        markdown_text(result_title(result)));
    for (const GateLine* line : ordered(result))
      out += fmt::format("| {} | {} | {} | {} | {} | {} | {} |\n", markdown_code(line->metric),
                         line->failed() ? fmt::format("**{}**", key_of(line->outcome)) : std::string(key_of(line->outcome)),
                         line_value(*line, line->value), line_value(*line, line->expected), line_change(*line), line_range(*line),
                         line->values.size());
    for (const std::string& difference : differences_of(result))
      out += "\n" + markdown_text(difference.substr(0, difference.size() - 1)) + "\n";
  }
  for (const std::string& file : report.changed_files) out += fmt::format("\nWrote {}.\n", markdown_code(file));
  return out;
}

std::string gate_annotations(const GateReport& report) {
  std::string out;
  for (const GateResult& result : report.results)
    for (const GateLine& line : result.lines) {
      if (line.outcome == GateOutcome::kMet) continue;
      const std::string place = line.line > 0 ? fmt::format(",line={}", line.line) : "";
      const bool undecided = line.outcome == GateOutcome::kUndecided;
      out +=
          fmt::format("::{} file={}{},title={}::{}\n",
                      line.failed() || (undecided && report.strict) ? "error"
                      : undecided                                   ? "warning"
                                                                    : "notice",
                      command_text(report.file, true), place, command_text(fmt::format("{} {}", line.metric, key_of(line.outcome)), true),
                      command_text(line_sentence(line, result.hardware), false));
    }
  return out;
}

std::string gate_junit(const GateReport& report) {
  std::string out = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"nl-stage gate\">\n";
  for (const GateResult& result : report.results) {
    const auto failures = count_if_line(result, [](const GateLine& line) { return line.failed(); });
    const auto skipped = count_if_line(
        result, [](const GateLine& line) { return line.outcome == GateOutcome::kNew || line.outcome == GateOutcome::kUndecided; });
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
