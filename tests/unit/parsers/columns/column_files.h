#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "parsers/arrow/table.h"
#include "parsers/columns/rows.h"
#include "parsers/parquet/table.h"

// Tables that were written by others, whatever their format.
namespace nl::test {

inline parsers::columns::Table open_columns(const std::filesystem::path& file) {
  return file.extension() == ".parquet" ? parsers::parquet::open_table(file) : parsers::arrow::open_table(file);
}

// Those of the columns that make.mjs writes.
inline std::vector<std::string_view> names_of(const parsers::columns::Table& table) {
  std::vector<std::string_view> names = {"start", "whole", "small", "short", "constant", "real", "truth", "words", "texts", "never"};
  std::erase_if(names, [&](std::string_view name) { return !table->has_column(name); });
  return names;
}

// Reads every value of every row. Returns how many rows there are.
inline std::uint64_t read_all(const std::filesystem::path& file) {
  const parsers::columns::Table table = open_columns(file);
  const std::vector<std::string_view> names = names_of(table);
  const std::size_t columns = names.size();
  parsers::columns::Rows rows(table, names, 0, UINT64_MAX);
  std::uint64_t count = 0, sum = 0;
  for (; rows.next(); ++count)
    for (std::size_t i = 0; i < columns; ++i) {
      if (rows.is_null(i)) continue;
      if (rows.kind(i) == parsers::columns::Kind::kText)
        for (const char c : rows.text(i)) sum += static_cast<unsigned char>(c);
      else sum += rows.is_integer(i) ? static_cast<std::uint64_t>(rows.integer(i)) : rows.real(i) > 0;
    }
  volatile std::uint64_t seen = sum;  // so that all of it is read
  static_cast<void>(seen);
  return count;
}

}  // namespace nl::test
