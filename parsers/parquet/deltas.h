#pragma once

#include "parsers/parquet/values.h"

namespace nl::parsers::parquet {

// Numbers by their differences: a head, then blocks of small ones whose differences take so many bits.
class DeltaNumbers {
 public:
  DeltaNumbers() = default;
  explicit DeltaNumbers(std::string_view bytes) : rest_(bytes), sound_(read_head()) {}

  // The next numbers; false where they are not all there.
  bool read(std::int64_t* out, std::size_t count);
  std::uint64_t left() const { return left_; }
  std::string_view rest() const { return rest_; }  // once all are read

 private:
  bool read_head();
  bool next_block();
  bool next_small_block();

  std::string_view rest_, widths_, packed_;
  std::uint64_t left_ = 0, per_small_block_ = 0, small_blocks_ = 0;
  std::uint64_t at_ = 0, in_block_ = 0, width_ = 0;  // in the small block
  std::uint64_t last_ = 0, least_ = 0;
  bool first_ = true, sound_ = false;
};

std::unique_ptr<ValueReader> delta_integers(const ColumnSchema& column, std::string_view bytes);
// nullptr where the lengths that stand before the texts are damaged, or are not `values` at most.
std::unique_ptr<ValueReader> delta_length_texts(std::string_view bytes, std::size_t values);
std::unique_ptr<ValueReader> delta_texts(std::string_view bytes, std::size_t values);

}  // namespace nl::parsers::parquet
