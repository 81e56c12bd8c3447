#include <fmt/format.h>

#include <algorithm>

#include "exporters/gate/gate_reports.h"
#include "exporters/report/html/html_text.h"
#include "model/words.h"

namespace nl::exporters {
namespace {

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

}  // namespace nl::exporters
