#include "parsers/sqlite_pages/table_shape.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <initializer_list>

#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Exception.h>
#include <SQLiteCpp/Statement.h>

#include "parsers/sqlite_pages/tree_page.h"

namespace nl::parsers::sqlite_pages {
namespace {

std::string upper(std::string text) {
  for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

bool has_any(const std::string& type, std::initializer_list<const char*> words) {
  return std::any_of(words.begin(), words.end(), [&](const char* word) { return type.find(word) != std::string::npos; });
}

// What the declared type makes of values. https://www.sqlite.org/datatype3.html, 3.1
enum class Affinity { kInteger, kText, kBlob, kReal, kNumeric };

Affinity affinity_of(const std::string& type) {
  if (has_any(type, {"INT"})) return Affinity::kInteger;
  if (has_any(type, {"CHAR", "CLOB", "TEXT"})) return Affinity::kText;
  if (type.empty() || has_any(type, {"BLOB"})) return Affinity::kBlob;
  return has_any(type, {"REAL", "FLOA", "DOUB"}) ? Affinity::kReal : Affinity::kNumeric;
}

// 'it''s'
std::optional<std::string> unquoted(std::string_view quoted) {
  if (quoted.size() < 2 || quoted.front() != '\'' || quoted.back() != '\'') return std::nullopt;
  std::string text;
  for (std::size_t i = 1; i + 1 < quoted.size(); ++i) {
    if (quoted[i] == '\'' && quoted[++i] != '\'') return std::nullopt;
    text += quoted[i];
  }
  return text;
}

// Whole numbers and texts that the column keeps as they are. False: only SQLite can tell the value.
bool take_default(const std::string& sql, Affinity affinity, TextEncoding encoding, WantedColumn& column) {
  if (upper(sql) == "NULL") return true;
  const bool keeps_numbers = affinity != Affinity::kText && affinity != Affinity::kReal;
  const bool keeps_texts = (affinity == Affinity::kText || affinity == Affinity::kBlob) && encoding == TextEncoding::kUtf8;
  const auto [end, failed] = std::from_chars(sql.data(), sql.data() + sql.size(), column.default_integer);
  if (failed == std::errc{} && end == sql.data() + sql.size()) {
    column.default_kind = ValueKind::kInteger;
    return keeps_numbers;
  }
  const std::optional<std::string> text = unquoted(sql);
  column.default_kind = ValueKind::kText;
  column.default_text = text.value_or("");
  return text.has_value() && keeps_texts;
}

// An INTEGER PRIMARY KEY is the rowid by another name, unless it has an index of its own.
void name_rowid(const SQLite::Database& database, const std::vector<std::size_t>& keys, const std::vector<std::string>& types,
                TableShape& shape) {
  if (keys.size() != 1 || types[keys[0]] != "INTEGER") return;
  SQLite::Statement indices(database, "SELECT count(*) FROM pragma_index_list(?) WHERE origin = 'pk'");
  indices.bind(1, shape.name);
  if (indices.executeStep() && indices.getColumn(0).getInt() == 0) shape.columns[keys[0]].how.is_rowid = true;
}

std::string read_columns(const PageFile& pages, const SQLite::Database& database, TableShape& shape) {
  SQLite::Statement rows(database, "SELECT name, type, dflt_value, pk, hidden FROM pragma_table_xinfo(?)");
  rows.bind(1, shape.name);
  std::vector<std::size_t> keys;
  std::vector<std::string> types;
  while (rows.executeStep()) {
    TableShape::Column column{rows.getColumn(0).getString(), {}};
    types.push_back(upper(rows.getColumn(1).getString()));
    const Affinity affinity = affinity_of(types.back());
    column.how.index = static_cast<int>(shape.columns.size());
    column.how.is_real = affinity == Affinity::kReal;
    if (!rows.getColumn(2).isNull() && !take_default(rows.getColumn(2).getString(), affinity, pages.encoding(), column.how))
      return "its column " + column.name + " has a default that has to be computed";
    if (rows.getColumn(3).getInt() > 0) keys.push_back(shape.columns.size());
    if (rows.getColumn(4).getInt() != 0) return "its column " + column.name + " is computed";
    shape.columns.push_back(std::move(column));
  }
  name_rowid(database, keys, types, shape);
  return {};
}

std::string read_root(const SQLite::Database& database, TableShape& shape) {
  if (shape.name == "sqlite_master") {
    shape.root = 1;
    return {};
  }
  SQLite::Statement row(database, "SELECT rootpage FROM sqlite_master WHERE type = 'table' AND name = ?");
  row.bind(1, shape.name);
  if (!row.executeStep()) return "there is no such table";
  const std::int64_t root = row.getColumn(0).getInt64();
  shape.root = root > 0 && root < UINT32_MAX ? static_cast<std::uint32_t>(root) : 0;
  return {};
}

}  // namespace

WantedColumn TableShape::wanted(std::string_view column) const {
  const auto found = std::find_if(columns.begin(), columns.end(), [&](const Column& each) { return each.name == column; });
  return found == columns.end() ? WantedColumn() : found->how;
}

ShapeReading read_shape(const PageFile& pages, const SQLite::Database& database, const std::string& table) {
  TableShape shape;
  shape.name = table;
  try {
    std::string refusal = read_root(database, shape);
    if (refusal.empty()) refusal = read_columns(pages, database, shape);
    if (refusal.empty() && !TreePage::is_of_table(pages, shape.root)) refusal = "it is WITHOUT ROWID, virtual or damaged";
    if (!refusal.empty()) return {std::nullopt, std::move(refusal)};
    return {std::move(shape), {}};
  } catch (const SQLite::Exception& failed) {
    return {std::nullopt, failed.what()};
  }
}

}  // namespace nl::parsers::sqlite_pages
