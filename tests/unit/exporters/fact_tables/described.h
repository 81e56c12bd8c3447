#pragma once

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "exporters/fact_tables/table.h"

// schema/facts.schema.json and the tables of docs/facts.md, made of the declared columns.
namespace nl::exporters::fact_tables::test {

using Json = nlohmann::ordered_json;

inline Json string_list(std::initializer_list<const char*> names) { return Json(std::vector<std::string>(names.begin(), names.end())); }

inline Json object(std::initializer_list<const char*> required, Json properties) {
  return {{"type", "object"}, {"required", string_list(required)}, {"additionalProperties", false}, {"properties", std::move(properties)}};
}

inline Json list_of(Json items) { return {{"type", "array"}, {"items", std::move(items)}}; }

inline const Json kTextSchema = {{"type", "string"}}, kCountSchema = {{"type", "integer"}, {"minimum", 0}};

inline std::string definition_of(const Table& table) { return "column_of_" + table.name; }

inline Json table_schema(const Table& table, bool written) {
  Json properties = {{"name", {{"const", table.name}}}, {"help", kTextSchema}};
  if (written) properties.update({{"file", kTextSchema}, {"rows", kCountSchema}});
  properties["columns"] = list_of({{"$ref", "#/definitions/" + definition_of(table)}});
  return written ? object({"name", "help", "file", "rows", "columns"}, properties) : object({"name", "help", "columns"}, properties);
}

inline Json tables_schema(bool written) {
  Json any = Json::array();
  for (const Table& table : tables()) any.push_back(table_schema(table, written));
  return list_of({{"oneOf", any}});
}

inline Json column_schema(const Table& table) {
  Json types = Json::array(), names = Json::array();
  for (std::size_t i = 0; i < kTypes; ++i) types.push_back(name_of(static_cast<Type>(i)));
  for (const Column& column : table.columns) names.push_back(column.name);
  return object({"name", "type", "unit", "help"}, {{"name", {{"enum", names}}},
                                                   {"type", {{"enum", types}}},
                                                   {"unit", {{"type", string_list({"string", "null"})}}},
                                                   {"help", kTextSchema}});
}

inline Json definitions() {
  Json out;
  for (const Table& table : tables()) out[definition_of(table)] = column_schema(table);
  return out;
}

inline Json result_schema() {
  Json skipped = list_of(object({"run", "error"}, {{"run", kTextSchema}, {"error", {{"type", "object"}}}}));
  skipped["description"] = "runs that cannot be read, and why";
  Json repeated = list_of(kTextSchema);
  repeated["description"] = "runs that were named before by another name";
  return object({"facts_version", "format", "folder", "runs", "tables", "skipped", "repeated", "exit_status"},
                {{"facts_version", kTextSchema},
                 {"format", {{"enum", string_list({"parquet", "arrow", "csv", "sqlite"})}}},
                 {"folder", kTextSchema},
                 {"runs", kCountSchema},
                 {"tables", tables_schema(true)},
                 {"skipped", skipped},
                 {"repeated", repeated},
                 {"exit_status", kCountSchema}});
}

inline std::string facts_schema() {
  const Json listing = object({"facts_version", "tables"}, {{"facts_version", kTextSchema}, {"tables", tables_schema(false)}});
  const Json schema = {{"$schema", "http://json-schema.org/draft-07/schema#"},
                       {"title", "nl-stage facts --json"},
                       {"description", "The tables that were written, or with --schema those that there are."},
                       {"definitions", definitions()},
                       {"oneOf", Json::array({result_schema(), listing})}};
  return schema.dump(2) + "\n";
}

inline std::string facts_markdown() {
  std::string out;
  for (const Table& table : tables()) {
    out += fmt::format("\n### {}\n\nA row is {}.\n\n| column | type | unit | what it is |\n| --- | --- | --- | --- |\n", table.name,
                       table.help);
    for (const Column& each : table.columns)
      out += fmt::format("| `{}` | {} | {} | {} |\n", each.name, name_of(each.type), each.unit, each.help);
  }
  return out + "\n";
}

}  // namespace nl::exporters::fact_tables::test
