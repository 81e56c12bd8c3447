#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "parsers/sqlite_pages/page_file.h"
#include "parsers/sqlite_pages/record.h"

namespace SQLite {
class Database;
}

namespace nl::parsers::sqlite_pages {

// Where a table begins and what its columns are. SQLite is asked, because it alone knows all of its language; rows are not its business.
struct TableShape {
  struct Column {
    std::string name;
    WantedColumn how;
  };
  std::string name;
  std::uint32_t root = 0;
  std::vector<Column> columns;

  WantedColumn wanted(std::string_view column) const;  // absent where there is none of that name
};

// Either the shape, or why SQLite has to read the table.
struct ShapeReading {
  std::optional<TableShape> shape;
  std::string refusal;
};
ShapeReading read_shape(const PageFile& pages, const SQLite::Database& database, const std::string& table);

}  // namespace nl::parsers::sqlite_pages
