#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "parsers/columns/rows.h"
#include "parsers/sqlite_pages/table_rows.h"

struct sqlite3;
struct sqlite3_stmt;

namespace nl::parsers {

// Rows of an export: of an SQLite file by SQLite or, several times faster, from its pages; of Parquet and Arrow from their columns. Columns are numbered as they were asked for; values of
// another type than is asked for are turned into it as SQLite does that.
class NsysRows {
 public:
  using Pages = std::shared_ptr<const sqlite_pages::PageFile>;
  NsysRows(sqlite3* connection, const std::string& sql, std::string file);
  NsysRows(Pages pages, const sqlite_pages::TableShape& table, const std::vector<std::string_view>& columns,
           const sqlite_pages::RowRange& range);
  NsysRows(columns::Rows rows, std::size_t columns);
  ~NsysRows();
  NsysRows(const NsysRows&) = delete;
  NsysRows& operator=(const NsysRows&) = delete;

  bool next() { return paged_ ? paged_->rows.next() : stored_ ? stored_->rows.next() : step(); }  // Error(kInput) where the file is damaged
  // The next rows column by column, all of them whole numbers; false at the end. After one of these only more of them.
  bool next(sqlite_pages::NumberRows& rows);
  bool is_null(int column) const {
    const auto at = static_cast<std::size_t>(column);
    return paged_ ? paged_->rows.is_null(at) : stored_ ? stored_->rows.is_null(at) : is_null_in_sqlite(column);
  }
  std::int64_t integer(int column) const {  // 0 where it is NULL
    const auto at = static_cast<std::size_t>(column);
    if (paged_) return paged_->rows.is_integer(at) ? paged_->rows.integer(at) : paged_->as_integer(column);
    if (stored_) return stored_->rows.is_integer(at) ? stored_->rows.integer(at) : stored_->as_integer(column);
    return integer_in_sqlite(column);
  }
  // See TableRows; nothing is together where there are no pages.
  void keep_together(int first, int last) {
    if (paged_) paged_->rows.keep_together(static_cast<std::size_t>(first), static_cast<std::size_t>(last));
  }
  std::string_view together() const { return paged_ ? paged_->rows.together() : std::string_view(); }
  std::uint32_t layout() const { return paged_ ? paged_->rows.layout() : 0; }

  std::string_view text(int column) const;       // empty where it is NULL; valid until next()
  void bind(int parameter, std::int64_t value);  // of a query by SQLite, which starts over

 private:
  struct Paged {
    Pages pages;
    sqlite_pages::TableRows rows;
    std::vector<std::string> texts;  // by column, of those that are not stored as they are asked for

    std::int64_t as_integer(int column);
    std::string_view as_text(int column);
  };
  struct Stored {
    columns::Rows rows;
    std::vector<std::string> texts;  // the same

    std::int64_t as_integer(int column) const;
    std::string_view as_text(int column);
  };
  bool step();
  bool is_null_in_sqlite(int column) const;
  std::int64_t integer_in_sqlite(int column) const;

  std::unique_ptr<Paged> paged_;
  std::unique_ptr<Stored> stored_;
  sqlite3_stmt* statement_ = nullptr;  // where there are neither pages nor columns
  bool ended_ = false;                 // it would begin anew
  std::string file_;
};

}  // namespace nl::parsers
