#include <fmt/format.h>

#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "exporters/tables.h"
#include "model/text_table.h"
#include "model/visible_text.h"
#include "query/connection.h"
#include "query/query.h"

namespace nl::query {
namespace {

using Json = nlohmann::ordered_json;

// A cell as a program reads it back: digits enough that no two numbers look alike.
std::string exact_text(const Cell& cell) {
  if (const auto* number = std::get_if<std::int64_t>(&cell)) return fmt::format("{}", *number);
  if (const auto* real = std::get_if<double>(&cell)) return fmt::format("{}", *real);
  if (const auto* text = std::get_if<std::string>(&cell)) return *text;
  return {};
}

// And as people do.
std::string shown_text(const Cell& cell) {
  if (std::holds_alternative<std::monostate>(cell)) return "—";
  const auto* real = std::get_if<double>(&cell);
  if (real == nullptr) return exact_text(cell);
  return std::abs(*real) >= 1000 ? fmt::format("{:.1f}", *real) : fmt::format("{:.4g}", *real);
}

std::string csv_field(const std::string& text) {
  return text.find_first_of(",\"\r\n") == std::string::npos ? text : exporters::csv_quoted(text);
}

bool has_only_numbers(const Answer& answer, std::size_t column) {
  bool any = false;
  for (const auto& row : answer.rows) {
    if (std::holds_alternative<std::string>(row[column])) return false;
    any = any || !std::holds_alternative<std::monostate>(row[column]);
  }
  return any;
}

Json json_cell(const Cell& cell) {
  if (const auto* number = std::get_if<std::int64_t>(&cell)) return *number;
  if (const auto* real = std::get_if<double>(&cell)) return std::isfinite(*real) ? Json(*real) : Json();
  if (const auto* text = std::get_if<std::string>(&cell)) return *text;
  return nullptr;
}

}  // namespace

// "total_ns", "sum(duration_ns)", "max(s.end_ns)": what counts and divides has no unit.
std::string_view unit_of_name(std::string_view name) {
  for (const std::string_view function : {"sum(", "min(", "max(", "avg(", "total(", "median("})
    if (name.starts_with(function) && name.ends_with(")"))
      return unit_of_name(name.substr(function.size(), name.size() - function.size() - 1));
  if (name.find_first_of(" ()+-*/|") != std::string_view::npos) return {};
  if (name.ends_with("_per_s")) return {};
  constexpr auto kEndings = std::to_array<std::pair<std::string_view, std::string_view>>(
      {{"_ns", "ns"}, {"_us", "µs"}, {"_uj", "µJ"}, {"_ms", "ms"}, {"_s", "s"}, {"_bytes", "bytes"}, {"_share", "of 1"}, {"_pct", "%"}});
  for (const auto& [ending, unit] : kEndings)
    if (name.ends_with(ending)) return unit;
  return name == "bytes" ? name : name == "confidence" ? "of 1" : std::string_view();
}

std::string answer_text(const Answer& answer, std::size_t width) {
  TextTable table;
  for (std::size_t i = 0; i < answer.columns.size(); ++i) {
    table.head.push_back(answer.columns[i].name);
    table.numbers.push_back(has_only_numbers(answer, i));
  }
  for (const auto& row : answer.rows) {
    std::vector<std::string>& cells = table.rows.emplace_back();
    for (const Cell& cell : row) cells.push_back(shown_text(cell));
  }
  table.always_shown = 2;
  table.ruled = true;
  const FittedTable fit = fitted(std::move(table), width);
  std::string text = fit.text;
  if (answer.rows.empty()) text += "no rows\n";
  if (!fit.left_out.empty())
    text += fmt::format("not shown, the terminal is too narrow: {}; --format csv has all\n", fmt::join(fit.left_out, ", "));
  return text;
}

std::string answer_csv(const Answer& answer) {
  std::string csv;
  const auto end_of_field = [](std::size_t i, std::size_t count) { return i + 1 < count ? "," : "\r\n"; };
  for (std::size_t i = 0; i < answer.columns.size(); ++i) csv += csv_field(answer.columns[i].name) + end_of_field(i, answer.columns.size());
  for (const auto& row : answer.rows)
    for (std::size_t i = 0; i < row.size(); ++i) csv += csv_field(exact_text(row[i])) + end_of_field(i, row.size());
  return csv;
}

std::string answer_json(const Answer& answer) {
  Json columns = Json::array();
  for (const AnswerColumn& column : answer.columns)
    columns.push_back({{"name", column.name}, {"unit", column.unit.empty() ? Json() : Json(column.unit)}});
  std::string rows;  // one line each
  for (const auto& row : answer.rows) {
    Json cells = Json::array();
    for (const Cell& cell : row) cells.push_back(json_cell(cell));
    rows += (rows.empty() ? "\n    " : ",\n    ") + cells.dump(-1, ' ', false, Json::error_handler_t::replace);
  }
  const auto dumped = [](const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); };
  return fmt::format(
      "{{\n  \"columns\": {},\n  \"rows\": [{}{}],\n  \"row_count\": {},\n  \"truncated\": {},\n  \"read_ms\": {:.3f},\n  \"query_ms\": "
      "{:.3f},\n  "
      "\"notes\": {}\n}}\n",
      dumped(columns), rows, rows.empty() ? "" : "\n  ", answer.rows.size(), answer.truncated, answer.read_ms, answer.query_ms,
      dumped(answer.notes));
}

std::string answer_remarks(const Answer& answer) {
  std::string remarks;
  if (answer.truncated) {
    const std::string count = with_commas(std::to_string(answer.rows.size()));
    remarks += fmt::format("{} {} shown, and there are more; --limit N shows N, --limit 0 all\n", count,
                           answer.rows.size() == 1 ? "row is" : "rows are");
  }
  for (const std::string& note : answer.notes) remarks += note + "\n";
  return remarks;
}

}  // namespace nl::query
