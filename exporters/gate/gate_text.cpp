#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "exporters/gate/gate_reports.h"
#include "exporters/report/text/figure_text.h"
#include "exporters/report/text/markdown.h"
#include "model/text_table.h"
#include "model/words.h"

namespace nl::exporters {
namespace {

std::string value_text(const GateLine& line, const std::optional<double>& value) {
  return value ? metric_value_text(*line.info, *value) : kNoValue;
}

std::string change_text(const GateLine& line) {
  const auto change = line.change();
  if (!change) return kNoValue;
  return std::abs(*change) < 0.0005 ? "0.0 %" : fmt::format("{:+.1f} %", *change * 100);
}

// "met from 3.90 ms to 4.10 ms"
std::string range_text(const GateLine& line) {
  return line.low ? fmt::format("{} to {}", value_text(line, line.low), value_text(line, line.high)) : kNoValue;
}

std::string result_title(const GateResult& result) { return fmt::format("{}, {}", result.hardware, join(result.runs)); }

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
    out += change.before
               ? fmt::format("{}, {}: {} is now {}\n", change.hardware, change.metric, metric_value_text(info, *change.before), after)
               : fmt::format("{}, {}: now expected, {}\n", change.hardware, change.metric, after);
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
  TextTable table{{"outcome", "metric", "measured", "expected", "change", "met from"}, {}, {false, false, true, true, true, true}, 2};
  for (const GateLine* line : ordered(result))
    table.rows.push_back({std::string(key_of(line->outcome)), line->metric, value_text(*line, line->value),
                          value_text(*line, line->expected), change_text(*line), range_text(*line)});
  return result_title(result) + "\n" + (table.rows.empty() ? "" : fitted(std::move(table), width).text) + join(differences_of(result), "");
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
  for (const GateOutcome outcome :
       {GateOutcome::kRegressed, GateOutcome::kMissing, GateOutcome::kImproved, GateOutcome::kNew, GateOutcome::kMet})
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
                         value_text(*line, line->value), value_text(*line, line->expected), change_text(*line), range_text(*line),
                         line->values.size());
    for (const std::string& difference : differences_of(result))
      out += "\n" + markdown_text(difference.substr(0, difference.size() - 1)) + "\n";
  }
  for (const std::string& file : report.changed_files) out += fmt::format("\nWrote {}.\n", markdown_code(file));
  return out;
}

}  // namespace nl::exporters
