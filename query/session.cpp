#include "query/session.h"

#include <algorithm>

namespace nl::query {

void Session::touch(const Table& table) {
  needs_ |= table.needs;
  if (std::find(touched_.begin(), touched_.end(), &table) == touched_.end()) touched_.push_back(&table);
}

const Rows& Session::rows_of(const Table& table) {
  std::unique_ptr<Rows>& rows = rows_[&table];
  if (!rows) rows = table.open(*sources_);
  return *rows;
}

const ColumnIndex* Session::index_of(const Table& table, std::size_t column) {
  const auto [found, is_first] = indexes_.try_emplace({&table, column});
  if (!is_first && !found->second) found->second = std::make_unique<ColumnIndex>(table, rows_of(table), column);
  return found->second.get();
}

}  // namespace nl::query
