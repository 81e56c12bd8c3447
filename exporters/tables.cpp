#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include "exporters/tables.h"
#include "model/text_table.h"
#include "model/visible_text.h"

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
std::string csv_field(const std::string& text) { return text.find(',') == std::string::npos ? text : "\"" + text + "\""; }

std::string json_value(const StatTable::Cell& cell) {
  if (std::holds_alternative<std::monostate>(cell)) return "\"\"";  // as nsys has it, whatever the column
  if (auto* text = std::get_if<std::string>(&cell))
    return nlohmann::json(*text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  return text_of(cell);
}

bool is_number(const StatTable::Cell& cell) {
  return std::holds_alternative<std::int64_t>(cell) || std::holds_alternative<StatTable::Tenth>(cell);
}

constexpr std::size_t kFiguresAlwaysShown = 3;  // the share, the total and the count

TextTable text_table(const StatTable& table) {
  TextTable out{table.columns, {}, std::vector<bool>(table.columns.size()), kFiguresAlwaysShown, true};
  for (const auto& row : table.rows) {
    out.rows.emplace_back();
    for (std::size_t i = 0; i < row.size(); ++i) {
      out.rows.back().push_back(is_number(row[i]) ? with_commas(text_of(row[i])) : text_of(row[i]));
      if (is_number(row[i])) out.numbers[i] = true;
    }
  }
  return out;
}

void add_number(std::string& text, const std::optional<double>& value) {
  text += ',';
  if (value) text += fmt::format("{:.12g}", *value);
}

void add_row(std::string& text, const std::string& pass, const PowerSample& sample) {
  text += fmt::format("{},{},{}", pass, sample.utc_ns, sample.device);
  for (const auto& value :
       {sample.power_w, sample.energy_j, sample.sm_clock_mhz, sample.memory_clock_mhz, sample.temperature_c, sample.gpu_utilisation})
    add_number(text, value);
  text += sample.throttle_reasons ? fmt::format(",0x{:x}\n", *sample.throttle_reasons) : ",\n";
}

}  // namespace

std::string csv_quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) out.append(c == '"' ? 2 : 1, c);
  return out + '"';
}

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

std::string stat_text(const StatTable& table, std::size_t width) {
  const FittedTable shown = fitted(text_table(table), width);
  const std::string note = shown.left_out.empty() ? ""
                                                  : fmt::format("not shown, the terminal is too narrow: {}; --format csv has all\n",
                                                                fmt::join(shown.left_out, ", "));
  return fmt::format("{} ({})\n\n{}{}", table.title, table.report, shown.text, note);
}

std::string samples_csv(const std::vector<NamedSamples>& passes, std::size_t most_rows) {
  std::size_t rows = 0;
  for (const auto& [name, samples] : passes) rows += samples->size();
  const std::size_t stride = std::max<std::size_t>((rows + most_rows - 1) / most_rows, 1);
  std::string text =
      "pass,utc_ns,device,power_w,energy_j,sm_clock_mhz,memory_clock_mhz,temperature_c,gpu_utilisation,"
      "throttle_reasons\n";
  for (const auto& [name, samples] : passes) {
    std::size_t reading = 0;  // the rows of one moment stay together
    for (std::size_t i = 0; i < samples->size(); ++i) {
      if (i > 0 && (*samples)[i].utc_ns != (*samples)[i - 1].utc_ns) ++reading;
      if (reading % stride == 0) add_row(text, name, (*samples)[i]);
    }
  }
  return text;
}

}  // namespace nl::exporters
