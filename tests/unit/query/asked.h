#pragma once

#include <sqlite3.h>

#include <string>
#include <vector>

#include "query/query.h"
#include "tests/catch.h"

namespace nl::test {

using Cells = std::vector<std::vector<query::Cell>>;

inline const std::string kLlamaExport = std::string(NL_FIXTURES) + "/h200-llama/nsys.sqlite";

inline query::Answer asked(const std::string& run, const std::string& sql, query::Limits limits = {.rows = 0}) {
  return query::ask({run, "off"}, sql, limits);
}

// What SQLite says of the export itself.
inline Cells of_export(const std::string& file, const std::string& sql) {
  sqlite3* connection = nullptr;
  REQUIRE(sqlite3_open_v2(("file:" + file + "?immutable=1").c_str(), &connection, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, nullptr) ==
          SQLITE_OK);
  sqlite3_stmt* statement = nullptr;
  INFO(sql);
  REQUIRE(sqlite3_prepare_v2(connection, sql.c_str(), -1, &statement, nullptr) == SQLITE_OK);
  Cells cells;
  while (sqlite3_step(statement) == SQLITE_ROW) {
    std::vector<query::Cell>& row = cells.emplace_back();
    for (int i = 0; i < sqlite3_column_count(statement); ++i) {
      const int type = sqlite3_column_type(statement, i);
      if (type == SQLITE_INTEGER) row.emplace_back(std::int64_t{sqlite3_column_int64(statement, i)});
      else if (type == SQLITE_FLOAT) row.emplace_back(sqlite3_column_double(statement, i));
      else if (type == SQLITE_NULL) row.emplace_back();
      else row.emplace_back(std::string(reinterpret_cast<const char*>(sqlite3_column_text(statement, i))));
    }
  }
  sqlite3_finalize(statement);
  sqlite3_close(connection);
  return cells;
}

inline std::int64_t number(const query::Cell& cell) { return std::get<std::int64_t>(cell); }

}  // namespace nl::test
