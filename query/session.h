#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "query/order.h"
#include "query/sources.h"
#include "query/table.h"

struct sqlite3;

namespace nl::query {

// What one query knows of its tables: first what it needs of them, then their rows.
class Session {
 public:
  // While the query is planned.
  void touch(const Table& table);
  void touch(const Table& table, std::size_t column) { needs_ |= table.columns[column].needs; }
  void touch_kind(const Table& table, std::string_view kind) { needs_ |= table.needs_of_kind(kind); }  // empty: any
  Needs needs() const { return needs_; }
  const std::vector<const Table*>& touched() const { return touched_; }

  // While it runs. The sources must outlive that.
  void open(const Sources& sources) { sources_ = &sources; }
  const Rows& rows_of(const Table& table);
  // Null: the first time that rows are looked up by this column, for which making one is not worth it.
  const ColumnIndex* index_of(const Table& table, std::size_t column);

 private:
  Needs needs_ = 0;
  std::vector<const Table*> touched_;
  const Sources* sources_ = nullptr;
  std::map<const Table*, std::unique_ptr<Rows>> rows_;
  std::map<std::pair<const Table*, std::size_t>, std::unique_ptr<ColumnIndex>> indexes_;
};

// Makes the tables of a connection: virtual tables that read the session's rows where they are.
void add_virtual_tables(sqlite3* connection, Session& session);

}  // namespace nl::query
