#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <sqlite3.h>

namespace nl::exporters {

// A new SQLite file that is written once, from front to back.
class SqliteFile {
 public:
  explicit SqliteFile(const std::string& path);

  void execute(const std::string& sql);
  void finish();  // all of it is on its way to the disk, or Error
  sqlite3* handle() const { return database_.get(); }
  [[noreturn]] void fail() const;

 private:
  struct Close {
    void operator()(sqlite3* database) const { sqlite3_close(database); }
  };
  std::string path_;
  std::unique_ptr<sqlite3, Close> database_;
};

using SqliteNumber = std::optional<std::int64_t>;  // without one: NULL

// One table of such a file, written row after row.
class SqliteTable {
 public:
  static constexpr bool kIsThere = true;
  // A new one: "start INTEGER NOT NULL, name TEXT". Or one that is there, of which some columns are filled: "start, name".
  SqliteTable(SqliteFile& file, const std::string& name, const std::string& columns, bool is_there = false);
  ~SqliteTable();
  SqliteTable(const SqliteTable&) = delete;
  SqliteTable& operator=(const SqliteTable&) = delete;

  template <typename... Values>
  void add(const Values&... values) {
    int column = 0;
    (bind(++column, values), ...);
    step();
  }

 private:
  void bind(int column, std::int64_t value) { sqlite3_bind_int64(insert_, column, value); }
  void bind(int column, double value) { sqlite3_bind_double(insert_, column, value); }
  void bind(int column, std::nullptr_t) { sqlite3_bind_null(insert_, column); }
  void bind(int column, std::string_view text) {
    sqlite3_bind_text(insert_, column, text.data(), static_cast<int>(text.size()), SQLITE_STATIC);
  }
  void bind(int column, const char* text) { bind(column, std::string_view(text)); }
  template <typename Value>
  void bind(int column, const std::optional<Value>& value) {
    if (value) bind(column, *value);
    else bind(column, nullptr);
  }
  void step();

  SqliteFile& file_;
  sqlite3_stmt* insert_ = nullptr;
};

}  // namespace nl::exporters
