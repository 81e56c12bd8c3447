#include "exporters/stat_text.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "model/figures.h"

namespace nl::exporters {
namespace {

// One decimal, halves away from zero. Only .25 and .75 are halves that a double can hold exactly; the
// usual rounding of the library takes those to the even digit.
std::string tenth(double value) {
  double quarters = std::fabs(value) * 4;
  bool half = quarters < 9e15 && quarters == std::floor(quarters) && std::fmod(quarters, 2) == 1;
  if (half) value = std::copysign(std::floor(std::fabs(value) * 10 + 0.5) / 10, value);
  return fmt::format("{:.1f}", value);
}

struct CellText {
  std::string operator()(std::int64_t value) const { return std::to_string(value); }
  std::string operator()(const StatTable::Tenth& value) const { return tenth(value.value); }
  std::string operator()(const std::string& value) const { return value; }
  std::string operator()(std::monostate) const { return {}; }
};

std::string text_of(const StatTable::Cell& cell) { return std::visit(CellText(), cell); }

// nsys quotes a field that has a comma and does not double the quotes inside it.
std::string csv_field(const std::string& text) {
  return text.find(',') == std::string::npos ? text : "\"" + text + "\"";
}

std::string json_value(const StatTable::Cell& cell) {
  if (std::holds_alternative<std::monostate>(cell)) return "\"\"";  // as nsys has it, whatever the column
  if (auto* text = std::get_if<std::string>(&cell))
    return nlohmann::json(*text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  return text_of(cell);
}

bool is_number(const StatTable::Cell& cell) {
  return std::holds_alternative<std::int64_t>(cell) || std::holds_alternative<StatTable::Tenth>(cell);
}

// Of what a person sees: UTF-8 continuation bytes take no place.
std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

std::string one_line(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20; }, ' ');
  return text;
}

struct TextGrid {
  std::vector<std::vector<std::string>> rows;
  std::vector<std::size_t> widths;
  std::vector<bool> right;
};

TextGrid grid_of(const StatTable& table) {
  TextGrid grid;
  grid.rows.push_back(table.columns);
  grid.right.assign(table.columns.size(), false);
  for (const auto& row : table.rows) {
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < row.size(); ++i) {
      texts.push_back(is_number(row[i]) ? with_commas(text_of(row[i])) : one_line(text_of(row[i])));
      if (is_number(row[i])) grid.right[i] = true;
    }
    grid.rows.push_back(std::move(texts));
  }
  grid.widths.assign(table.columns.size(), 0);
  for (const auto& row : grid.rows)
    for (std::size_t i = 0; i < row.size(); ++i) grid.widths[i] = std::max(grid.widths[i], width_of(row[i]));
  return grid;
}

}  // namespace

std::string stat_csv(const StatTable& table) {
  std::string out = fmt::format("{}\n", fmt::join(table.columns, ","));
  for (const auto& row : table.rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (i > 0) out += ',';
      out += csv_field(text_of(row[i]));
    }
    out += '\n';
  }
  return out;
}

std::string stat_json(const StatTable& table) {
  std::string out = "[";
  for (std::size_t r = 0; r < table.rows.size(); ++r) {
    out += r == 0 ? "\n  {" : ",\n  {";
    for (std::size_t i = 0; i < table.rows[r].size(); ++i)
      out += fmt::format("{}\n    \"{}\": {}", i == 0 ? "" : ",", table.columns[i], json_value(table.rows[r][i]));
    out += "\n  }";
  }
  return out + "\n]\n";
}

std::string stat_text(const StatTable& table) {
  TextGrid grid = grid_of(table);
  std::string out = fmt::format("{} ({})\n\n", table.title, table.report);
  for (std::size_t r = 0; r < grid.rows.size(); ++r) {
    std::string line;
    for (std::size_t i = 0; i < grid.rows[r].size(); ++i) {
      std::string padding(grid.widths[i] - width_of(grid.rows[r][i]), ' ');
      line += i == 0 ? "" : "  ";
      line += grid.right[i] ? padding + grid.rows[r][i] : grid.rows[r][i] + padding;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + '\n';
    if (r > 0) continue;
    for (std::size_t i = 0; i < grid.widths.size(); ++i) out += (i == 0 ? "" : "  ") + std::string(grid.widths[i], '-');
    out += '\n';
  }
  return out;
}

}  // namespace nl::exporters
