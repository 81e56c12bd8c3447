#include "parsers/columns/table_file.h"

#include <algorithm>

#include <fmt/core.h>

namespace nl::parsers::columns {

void Column::begin(Kind of, std::size_t rows) {
  kind = of;
  known.assign(rows, of == Kind::kAbsent ? 0 : 1);
  // Those of an absent column are read as 0.
  integers.assign(of == Kind::kInteger || of == Kind::kAbsent ? rows : 0, 0);
  reals.assign(of == Kind::kReal ? rows : 0, 0);
  texts.assign(of == Kind::kText ? rows : 0, {});
  memory.clear();
}

void Column::keep(const Memory& held) {
  if (held && (memory.empty() || memory.back() != held)) memory.push_back(held);
}

bool TableFile::has_column(std::string_view name) const { return column_number(name) < column_names_.size(); }

std::size_t TableFile::column_number(std::string_view name) const {
  return static_cast<std::size_t>(std::find(column_names_.begin(), column_names_.end(), name) - column_names_.begin());
}

// Memory for the rows is not taken on the word of a damaged file.
void TableFile::add_group(const MappedFile& file, std::uint64_t rows, std::string_view what) {
  constexpr std::uint64_t kMostRowsOfByte = 64;
  const std::size_t bytes = file.bytes().size();
  if (rows / kMostRowsOfByte > bytes || (rows_ + rows) / kMostRowsOfByte > bytes)
    file.damaged(fmt::format("{} would have {} rows, more than a file of {} bytes holds", what, rows, bytes));
  group_rows_.push_back(rows);
  rows_ += rows;
}

}  // namespace nl::parsers::columns
