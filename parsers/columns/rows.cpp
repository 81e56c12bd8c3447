#include "parsers/columns/rows.h"

#include <algorithm>

namespace nl::parsers::columns {
namespace {

constexpr std::uint64_t kStretchRows = 1024;  // their columns stay in the processor's cache

}  // namespace

Rows::Rows(Table table, std::vector<std::string_view> names, std::uint64_t first, std::uint64_t last)
    : table_(std::move(table)), names_(std::move(names)), to_skip_(first), columns_(names_.size()) {
  if (table_ != nullptr && first <= last && first < table_->rows()) left_ = std::min(last, table_->rows() - 1) - first + 1;
}

bool Rows::next_group() {
  for (; group_ < table_->group_rows().size(); ++group_) {
    left_in_group_ = table_->group_rows()[group_];
    if (to_skip_ < left_in_group_) {
      reader_ = table_->group(group_++, names_);
      return true;
    }
    to_skip_ -= left_in_group_;
  }
  return false;
}

bool Rows::next_stretch() {
  row_ = here_ = 0;
  if (left_ == 0) return false;
  for (;;) {
    if (left_in_group_ == 0 && !next_group()) return false;
    const std::uint64_t wanted = to_skip_ > 0 ? to_skip_ : left_;
    const auto rows = static_cast<std::size_t>(std::min({kStretchRows, left_in_group_, wanted}));
    reader_->read(rows, columns_);
    left_in_group_ -= rows;
    if (to_skip_ > 0) {
      to_skip_ -= rows;
      continue;
    }
    left_ -= rows;
    here_ = rows;
    break;
  }
  known_.clear();
  integers_.clear();
  for (const Column& column : columns_) {
    known_.push_back(column.known.data());
    integers_.push_back(column.integers.empty() ? nullptr : column.integers.data());
  }
  return true;
}

}  // namespace nl::parsers::columns
