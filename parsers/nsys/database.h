#pragma once

#include <cstdint>
#include <exception>
#include <filesystem>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "parsers/nsys/rows.h"

namespace nl::parsers {

// The rows of a table from rowid `first` to `last`, both included.
struct RowSpan {
  std::int64_t first = 0;
  std::int64_t last = -1;
  bool dense = true;        // false: rowids tell nothing, read all rows in one go
  std::uint64_t count = 0;  // how many rows there are at most
};

std::vector<RowSpan> split_rows(const RowSpan& span, std::size_t parts);

// One read-only connection to an export, and what tables and columns it has. Opened as immutable: no
// lock, no journal, no file is made beside it. One connection serves one thread. Whole tables are read from the pages of the file, those of
// files and tables that are unusual by SQLite.
class NsysDatabase {
 public:
  explicit NsysDatabase(const std::filesystem::path& file);
  ~NsysDatabase();
  NsysDatabase(NsysDatabase&&) noexcept;

  using Columns = std::initializer_list<std::string_view>;
  NsysDatabase another_connection() const;
  bool has_table(std::string_view table) const;
  bool has_column(std::string_view table, std::string_view column) const;
  bool has_columns(std::string_view table, Columns columns) const;  // all of them
  // Whether looking a row up by this column needs no scan of the table.
  bool is_row_key(std::string_view table, std::string_view column) const;
  const std::string& file() const { return file_; }
  std::uint64_t size_bytes() const { return size_bytes_; }

  RowSpan rows_of(std::string_view table) const;
  std::vector<RowSpan> split(std::string_view table, const RowSpan& span, std::size_t parts) const;
  // A column that the table lacks reads as NULL.
  NsysRows select(std::string_view table, Columns columns) const;
  NsysRows select(std::string_view table, Columns columns, const RowSpan& span) const;
  NsysRows query(const std::string& sql) const;

 private:
  struct Connection;
  struct Table {
    std::set<std::string, std::less<>> columns;
    std::string row_key;
  };
  struct Shapes;
  NsysDatabase() = default;
  void open();
  void probe();
  const sqlite_pages::TableShape* shape_of(std::string_view table) const;  // nullptr: SQLite has to read it
  NsysRows rows(std::string_view table, Columns columns, const sqlite_pages::RowRange& range, const std::string& sql) const;
  std::string select_sql(std::string_view table, Columns columns) const;

  std::string file_;
  std::uint64_t size_bytes_ = 0;
  std::unique_ptr<Connection> connection_;
  std::shared_ptr<const std::map<std::string, Table, std::less<>>> tables_;
  NsysRows::Pages pages_;  // empty where SQLite has to read them
  std::shared_ptr<Shapes> shapes_;
};

// Whether any table of an export is there, of whatever schema.
bool has_export_tables(const NsysDatabase& database);

// Calls scan(connection, part) for each part, each on a thread and a connection of its own.
void scan_in_parts(const NsysDatabase& database, std::size_t parts, const std::function<void(const NsysDatabase&, std::size_t)>& scan);
// How many parts make reading so many rows faster.
std::size_t parts_for(std::uint64_t rows);

}  // namespace nl::parsers
