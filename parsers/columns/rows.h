#pragma once

#include "parsers/columns/table_file.h"

namespace nl::parsers::columns {

// The rows of a table from number `first` to `last`, both included, in their order; none where there is no table. Takes memory for a thousand of them. One thread's.
class Rows {
 public:
  Rows(Table table, std::vector<std::string_view> names, std::uint64_t first, std::uint64_t last);

  bool next() { return ++row_ < here_ || next_stretch(); }
  Kind kind(std::size_t column) const { return columns_[column].kind; }
  bool is_null(std::size_t column) const { return known_[column][row_] == 0; }
  // Whether integer() has the value, or it is NULL.
  bool is_integer(std::size_t column) const { return integers_[column] != nullptr; }
  std::int64_t integer(std::size_t column) const { return integers_[column][row_]; }
  double real(std::size_t column) const { return columns_[column].reals[row_]; }
  std::string_view text(std::size_t column) const { return columns_[column].texts[row_]; }
  // What texts of these rows lie in, for one who keeps them.
  const std::vector<Memory>& memory(std::size_t column) const { return columns_[column].memory; }

 private:
  bool next_stretch();
  bool next_group();

  Table table_;
  std::vector<std::string_view> names_;
  std::uint64_t to_skip_ = 0, left_ = 0;  // of the rows that are not in columns_
  std::size_t group_ = 0;                 // the next one
  std::uint64_t left_in_group_ = 0;
  std::unique_ptr<GroupReader> reader_;

  std::vector<Column> columns_;
  std::size_t row_ = 0, here_ = 0;
  std::vector<const std::uint8_t*> known_;
  std::vector<const std::int64_t*> integers_;
};

}  // namespace nl::parsers::columns
