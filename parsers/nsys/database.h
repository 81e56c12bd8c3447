#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "parsers/nsys/source.h"

namespace nl::parsers {

// One read-only connection to an export, and what tables and columns it has: an SQLite file, or a folder with a file of Parquet or Arrow for each
// table. No lock, no journal, no file is made beside it. One connection serves one thread.
class NsysDatabase {
 public:
  explicit NsysDatabase(const std::filesystem::path& file_or_folder);
  ~NsysDatabase();
  NsysDatabase(NsysDatabase&&) noexcept;

  using Columns = NsysSource::Columns;
  NsysDatabase another_connection() const;
  bool has_table(std::string_view table) const;
  bool has_column(std::string_view table, std::string_view column) const;
  bool has_columns(std::string_view table, Columns columns) const;  // all of them
  // Whether looking a row up by this column needs no scan of the table.
  bool is_row_key(std::string_view table, std::string_view column) const;
  const std::string& file() const { return file_; }
  std::uint64_t size_bytes() const { return source_->size_bytes(); }

  RowSpan rows_of(std::string_view table) const;
  std::vector<RowSpan> split(std::string_view table, const RowSpan& span, std::size_t parts) const;
  // A column that the table lacks reads as NULL.
  NsysRows select(std::string_view table, Columns columns) const;
  NsysRows select(std::string_view table, Columns columns, const RowSpan& span) const;
  // The column `value` by the column `id`; nullptr where that needs a scan of the table.
  std::unique_ptr<NsysTexts> texts(std::string_view table, std::string_view id, std::string_view value) const;

 private:
  NsysDatabase(std::string file, std::unique_ptr<NsysSource> source);

  std::string file_;
  std::unique_ptr<NsysSource> source_;
};

// Whether any table of an export is there, of whatever schema.
bool has_export_tables(const NsysDatabase& database);

// Calls scan(connection, part) for each part, each on a thread and a connection of its own.
void scan_in_parts(const NsysDatabase& database, std::size_t parts, const std::function<void(const NsysDatabase&, std::size_t)>& scan);
// How many parts make reading so many rows faster.
std::size_t parts_for(std::uint64_t rows);

}  // namespace nl::parsers
