#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "model/text_table.h"
#include "model/visible_text.h"
#include "query/table.h"

namespace nl::query {
namespace {

constexpr std::string_view kTypeWords[] = {"integer", "real", "text"};

std::string_view type_word(ColumnType type) { return kTypeWords[static_cast<std::size_t>(type)]; }

}  // namespace

std::string schema_text(std::size_t width) {
  std::string text;
  for (const Table& table : tables()) {
    text += fmt::format("{}{}: {}\n", text.empty() ? "" : "\n", table.name, wrapped(table.help, width, table.name.size() + 2, 2));
    for (const Column& each : table.columns) {
      const std::string head = fmt::format("  {:<20} {:<8} {:<6} ", each.name, type_word(each.type), each.unit);
      text += head + wrapped(each.help, width, head.size(), head.size()) + "\n";
    }
    if (!table.when_empty.empty()) text += fmt::format("  {}\n", wrapped(fmt::format("Without rows: {}", table.when_empty), width, 2, 2));
  }
  return text;
}

std::string schema_json() {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const Table& table : tables()) {
    nlohmann::ordered_json columns = nlohmann::ordered_json::array();
    for (const Column& each : table.columns)
      columns.push_back({{"name", each.name},
                         {"type", type_word(each.type)},
                         {"unit", each.unit.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(each.unit)},
                         {"help", each.help}});
    all.push_back({{"name", table.name}, {"help", table.help}, {"columns", columns}});
  }
  return nlohmann::ordered_json({{"tables", all}}).dump(2) + "\n";
}

}  // namespace nl::query
