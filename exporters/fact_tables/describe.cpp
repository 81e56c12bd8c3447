#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "exporters/fact_tables/table.h"
#include "model/visible_text.h"

// The tables and their columns, for people and programs.
namespace nl::exporters::fact_tables {
namespace {

using Json = nlohmann::ordered_json;

Json column_json(const Column& column) {
  return {{"name", column.name},
          {"type", name_of(column.type)},
          {"unit", column.unit.empty() ? Json() : Json(column.unit)},
          {"help", column.help}};
}

}  // namespace

std::string tables_text(std::size_t width) {
  std::string out;
  for (const Table& table : tables()) {
    out += fmt::format("{}{}: {}\n", out.empty() ? "" : "\n", table.name, wrapped(table.help, width, table.name.size() + 2, 2));
    for (const Column& each : table.columns) {
      const std::string head = fmt::format("  {:<28} {:<8} {:<8} ", each.name, name_of(each.type), each.unit);
      out += head + wrapped(each.help, width, nl::columns_of(head), nl::columns_of(head)) + "\n";
    }
  }
  return out;
}

Json table_json(const Table& table) {
  Json columns = Json::array();
  for (const Column& each : table.columns) columns.push_back(column_json(each));
  return {{"name", table.name}, {"help", table.help}, {"columns", columns}};
}

std::string listing_json() {
  Json all = Json::array();
  for (const Table& table : tables()) all.push_back(table_json(table));
  return Json({{"facts_version", kFactsVersion}, {"tables", all}}).dump(2) + "\n";
}

}  // namespace nl::exporters::fact_tables
