#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace nl::parsers::sqlite_pages {

// Some rows of a table, column by column, of whole numbers: as many as fit the first cache.
class NumberRows {
 public:
  static constexpr std::size_t kMost = 256;
  explicit NumberRows(std::size_t columns) : values_(columns * kMost) {}

  std::size_t size() const { return size_; }
  std::int64_t* column(std::size_t column) { return values_.data() + column * kMost; }  // 0 where it is NULL
  // By bit, which of the first 64 columns are NULL in a row.
  std::uint64_t nulls(std::size_t row) const { return nulls_[row]; }

  void clear() { size_ = 0; }
  bool full() const { return size_ == kMost; }
  void add(std::size_t rows, std::uint64_t nulls) {
    for (const std::size_t end = size_ + rows; size_ < end; ++size_) nulls_[size_] = nulls;
  }
  void set_null(std::size_t row, std::size_t column) { nulls_[row] |= std::uint64_t{1} << column; }

 private:
  std::vector<std::int64_t> values_;
  std::array<std::uint64_t, kMost> nulls_{};
  std::size_t size_ = 0;
};

}  // namespace nl::parsers::sqlite_pages
