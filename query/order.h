#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "query/table.h"

// Rows in the order of their columns, for ORDER BY, GROUP BY and joins: SQLite sorts no rows itself, and looks none up one by one.
namespace nl::query {

using RowList = std::vector<std::uint32_t>;

struct OrderTerm {
  std::size_t column = 0;
  bool descending = false;
};

// Values as SQLite orders them: NULL first, numbers, then texts byte by byte.
void sort_rows(const Table& table, const Rows& rows, const std::vector<OrderTerm>& terms, RowList& list);

enum class Comparison : std::uint8_t { kEqual, kLess, kLessOrEqual, kGreater, kGreaterOrEqual };

struct Condition {
  std::size_t column = 0;
  Comparison comparison = Comparison::kEqual;
  std::int64_t number = 0;     // of columns of whole numbers,
  std::string_view text = {};  // and of texts
};
bool holds(const Table& table, const Rows& rows, std::size_t row, const Condition& condition);

// The rows of a table by one column.
class ColumnIndex {
 public:
  ColumnIndex(const Table& table, const Rows& rows, std::size_t column);
  struct Span {
    const std::uint32_t* first = nullptr;
    const std::uint32_t* last = nullptr;  // excluded
  };
  // All conditions are on this column.
  Span rows_where(const std::vector<Condition>& conditions) const;

 private:
  template <class Less>
  const std::uint32_t* edge(Less less) const;
  const Table& table_;
  const Rows& rows_;
  std::size_t column_;
  RowList order_;
  std::vector<std::int64_t> keys_;  // of columns of whole numbers, in that order
  std::size_t nulls_ = 0;           // come first
};

}  // namespace nl::query
