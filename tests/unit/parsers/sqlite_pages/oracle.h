#pragma once

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>

#include "model/error.h"
#include "parsers/sqlite_pages/row_ranges.h"
#include "parsers/sqlite_pages/table_rows.h"
#include "parsers/sqlite_pages/text.h"

// What SQLite says of a table, against what its pages say.
namespace nl::test {

enum class Agreement {
  kEqual,
  kRefused,  // SQLite has to read it
  kDamaged,  // an Error says so
  kDifferent,
};

struct TableComparison {
  Agreement agreement = Agreement::kEqual;
  std::string detail;  // why it is refused or damaged, or the first rows that differ
  std::size_t rows = 0;
};

// A row as kind, size and bytes of its rowid and of each column.
template <typename Number>
std::string_view bytes_of_number(const Number& number) {
  return {reinterpret_cast<const char*>(&number), sizeof number};
}

inline void add_cell(char kind, std::string_view value, std::string& row) {
  row += kind;
  row += bytes_of_number(value.size());
  row += value;
}

inline void add_integer(std::int64_t value, std::string& row) { add_cell('i', bytes_of_number(value), row); }
inline void add_real(double value, std::string& row) { add_cell('r', bytes_of_number(value), row); }

inline std::string shown(std::string_view row) {
  std::string out;
  for (const char c : row) out += c >= ' ' && c < 127 ? std::string(1, c) : fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
  return out;
}

inline std::string row_text(SQLite::Statement& statement) {
  std::string row;
  for (int i = 0; i < statement.getColumnCount(); ++i) {
    const SQLite::Column value = statement.getColumn(i);
    const auto bytes = [&](const void* at) {
      return std::string_view(static_cast<const char*>(at), static_cast<std::size_t>(value.getBytes()));
    };
    if (value.isNull()) add_cell('0', "", row);
    else if (value.isInteger()) add_integer(value.getInt64(), row);
    else if (value.isFloat()) add_real(value.getDouble(), row);
    else if (value.isText()) {
      const char* text = value.getText();  // before its length is asked for, which then is that of UTF-8
      add_cell('t', bytes(text), row);
    } else {
      const void* blob = value.getBlob();
      add_cell('b', bytes(blob), row);
    }
  }
  return row;
}

inline std::string row_text(const parsers::sqlite_pages::PageFile& pages, parsers::sqlite_pages::TableRows& rows, std::size_t columns) {
  using parsers::sqlite_pages::ValueKind;
  std::string row, kept;
  add_integer(rows.rowid(), row);
  for (std::size_t i = 0; i < columns; ++i) switch (rows.kind(i)) {
      case ValueKind::kNull: add_cell('0', "", row); break;
      case ValueKind::kInteger: add_integer(rows.integer(i), row); break;
      case ValueKind::kReal: add_real(rows.real(i), row); break;
      case ValueKind::kText: add_cell('t', parsers::sqlite_pages::utf8_of(rows.bytes(i), pages.encoding(), kept), row); break;
      case ValueKind::kBlob: add_cell('b', rows.bytes(i), row); break;
    }
  return row;
}

// `count`: of the table's columns, the first ones.
inline std::vector<std::string> rows_by_pages(const parsers::sqlite_pages::PageFile& pages, const parsers::sqlite_pages::TableShape& shape,
                                              std::size_t parts, std::size_t count) {
  std::vector<std::string_view> columns;
  for (std::size_t i = 0; i < count; ++i) columns.push_back(shape.columns[i].name);
  std::vector<std::string> out;
  for (const auto& range : parsers::sqlite_pages::split_by_leaves(pages, shape, parts)) {
    parsers::sqlite_pages::TableRows rows(pages, shape, columns, range);
    while (rows.next()) out.push_back(row_text(pages, rows, columns.size()));
  }
  return out;
}

// Whole numbers and NULL as they are, -1 for anything else: by row, and column by column.
inline std::string difference_by_columns(const parsers::sqlite_pages::PageFile& pages, const parsers::sqlite_pages::TableShape& shape,
                                         std::size_t parts, std::size_t count) {
  using parsers::sqlite_pages::ValueKind;
  std::vector<std::string_view> columns;
  for (std::size_t i = 0; i < std::min<std::size_t>(count, 64); ++i) columns.push_back(shape.columns[i].name);
  for (const auto& range : parsers::sqlite_pages::split_by_leaves(pages, shape, parts)) {
    parsers::sqlite_pages::TableRows by_row(pages, shape, columns, range), by_column(pages, shape, columns, range);
    const auto number = [&](parsers::sqlite_pages::TableRows& rows, std::size_t column) {
      return rows.is_integer(column) || rows.kind(column) == ValueKind::kInteger ? rows.integer(column) : -1;
    };
    parsers::sqlite_pages::NumberRows numbers(columns.size());
    while (by_column.next(numbers, [&](std::size_t column) { return number(by_column, column); }))
      for (std::size_t row = 0; row < numbers.size(); ++row) {
        if (!by_row.next()) return shape.name + ": more rows by column than by row";
        for (std::size_t i = 0; i < columns.size(); ++i)
          if (numbers.column(i)[row] != number(by_row, i) || (numbers.nulls(row) >> i & 1) != by_row.is_null(i))
            return fmt::format("{}: column {} of rowid {} is another by column", shape.name, i, by_row.rowid());
      }
    if (by_row.next()) return shape.name + ": fewer rows by column than by row";
  }
  return {};
}

inline std::string quoted_name(const std::string& name) {
  std::string out = "\"";
  for (const char c : name) out.append(c == '"' ? 2 : 1, c);
  return out + '"';
}

// "" where SQLite reads the same.
inline std::string difference_from_sqlite(const SQLite::Database& database, const std::string& table, const std::string& columns,
                                          const std::vector<std::string>& rows) {
  std::size_t at = 0;
  try {
    SQLite::Statement statement(database, "SELECT _rowid_" + columns + " FROM " + quoted_name(table) + " NOT INDEXED");
    for (; statement.executeStep(); ++at) {
      const std::string row = row_text(statement);
      if (at >= rows.size()) return table + ": SQLite has more than " + std::to_string(rows.size()) + " rows";
      if (row != rows[at])
        return table + ": row " + std::to_string(at) + ": SQLite has " + shown(row) + ", the pages have " + shown(rows[at]);
    }
  } catch (const SQLite::Exception& failed) {
    return table + ": SQLite ends at row " + std::to_string(at) + ": " + failed.what();
  }
  return at == rows.size() ? "" : table + ": SQLite has only " + std::to_string(at) + " of " + std::to_string(rows.size()) + " rows";
}

// Of the table's first columns, so many.
inline TableComparison compare_columns(const parsers::sqlite_pages::PageFile& pages, const SQLite::Database& database,
                                       const parsers::sqlite_pages::TableShape& shape, std::size_t parts, std::size_t count) {
  try {
    const std::vector<std::string> rows = rows_by_pages(pages, shape, parts, count);
    std::string columns;
    for (std::size_t i = 0; i < count; ++i) columns += ", " + quoted_name(shape.columns[i].name);
    std::string differs = difference_from_sqlite(database, shape.name, columns, rows);
    if (differs.empty()) differs = difference_by_columns(pages, shape, parts, count);
    return {differs.empty() ? Agreement::kEqual : Agreement::kDifferent, differs, rows.size()};
  } catch (const Error& error) {
    if (error.kind == ErrorKind::kInternal) throw;
    return {Agreement::kDamaged, error.message};
  }
}

inline TableComparison compare_table(const parsers::sqlite_pages::PageFile& pages, const SQLite::Database& database,
                                     const std::string& table, std::size_t parts = 1) {
  auto [shape, refusal] = parsers::sqlite_pages::read_shape(pages, database, table);
  if (!shape) return {Agreement::kRefused, refusal};
  // Who wants fewer columns reads less of a record's header.
  TableComparison some = compare_columns(pages, database, *shape, parts, (shape->columns.size() + 1) / 2);
  return some.agreement == Agreement::kDifferent ? some : compare_columns(pages, database, *shape, parts, shape->columns.size());
}

// SQLite as it reads an export: no lock, nothing beside the file.
inline SQLite::Database opened_by_sqlite(const std::filesystem::path& file) {
  return SQLite::Database("file:" + file.string() + "?immutable=1", SQLite::OPEN_READONLY | SQLite::OPEN_URI);
}

inline std::vector<std::string> tables_in(const SQLite::Database& database) {
  std::vector<std::string> names{"sqlite_master"};
  SQLite::Statement statement(database, "SELECT name FROM sqlite_master WHERE type = 'table'");
  while (statement.executeStep()) names.push_back(statement.getColumn(0).getString());
  return names;
}

// Of each table in turn.
template <typename Visit>
void compare_file(const std::filesystem::path& file, std::size_t parts, Visit visit) {
  const auto [pages, refusal] = parsers::sqlite_pages::PageFile::open(file);
  if (!pages) return visit(std::string(), TableComparison{Agreement::kRefused, refusal});
  try {
    const SQLite::Database database = opened_by_sqlite(file);
    for (const std::string& table : tables_in(database)) visit(table, compare_table(*pages, database, table, parts));
  } catch (const SQLite::Exception& failed) {
    visit(std::string(), TableComparison{Agreement::kRefused, failed.what()});
  }
}

}  // namespace nl::test
