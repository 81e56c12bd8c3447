#pragma once

#include <fmt/format.h>

#include <string>
#include <variant>
#include <vector>

#include "analysis/nsys_stats/reports.h"

// Rows of the reports of `nl-stage stats`, as text.
namespace nl::test {

inline std::string cell_text(const StatTable::Cell& cell) {
  if (const auto* whole = std::get_if<std::int64_t>(&cell)) return std::to_string(*whole);
  if (const auto* tenth = std::get_if<StatTable::Tenth>(&cell)) return fmt::format("{:.1f}", tenth->value);
  if (const auto* text = std::get_if<std::string>(&cell)) return *text;
  return "-";
}

// One line a row, cells parted by blanks.
inline std::vector<std::string> stat_rows(const Trace& trace, const char* report) {
  std::vector<std::string> lines;
  const StatTable table = analysis::make_stats_report(trace, report);
  if (!table.missing.empty()) return {"missing: " + table.missing};
  for (const auto& row : table.rows) {
    std::string line;
    for (const auto& cell : row) line += (line.empty() ? "" : " ") + cell_text(cell);
    lines.push_back(line);
  }
  return lines;
}

}  // namespace nl::test
