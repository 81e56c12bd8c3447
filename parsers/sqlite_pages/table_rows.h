#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "parsers/sqlite_pages/number_rows.h"
#include "parsers/sqlite_pages/page_window.h"
#include "parsers/sqlite_pages/record.h"
#include "parsers/sqlite_pages/table_shape.h"
#include "parsers/sqlite_pages/tree_page.h"

namespace nl::parsers::sqlite_pages {

// Rowids, both included.
struct RowRange {
  std::int64_t first = INT64_MIN;
  std::int64_t last = INT64_MAX;
};

// The rows of a table in the order of their rowids. A row is not taken apart: each value is read from its page when it is asked for. Takes the memory
// of a window of pages, and of the longest row that lies on several pages, if one of its values there is asked for. One thread's.
class TableRows {
 public:
  // `columns`: of the table by name, by their position here later on; one that the table lacks is NULL.
  TableRows(const PageFile& pages, const TableShape& table, const std::vector<std::string_view>& columns, const RowRange& range = {});

  bool next() {
    for (;;) {
      if (cell_ == leaf_.cells() && !next_leaf()) return false;
      read_cell(cell_++);
      if (rowid_ > range_.last) return false;
      if (rowid_ >= range_.first) return true;
    }
  }

  // The next rows, of at most 64 columns; `odd(column)` gives what is asked for as a number and stored as something else. False at the end.
  template <class Odd>
  bool next(NumberRows& out, Odd odd) {
    out.clear();
    while (!out.full() && next()) {
      const std::size_t row = out.size();
      payloads_[0] = payload_;
      // Rows that follow each other mostly have one layout: then a column of theirs is one loop without a branch.
      const std::size_t alike = layout_->odd == 0 ? 1 + read_alike(NumberRows::kMost - row - 1) : 1;
      out.add(alike, layout_->nulls);
      for (std::size_t column = 0; column < layout_->slots.size(); ++column)
        decode(layout_->slots[column], alike, out.column(column) + row);
      for (std::uint64_t left = layout_->odd; left != 0; left &= left - 1) {
        const auto column = static_cast<std::size_t>(std::countr_zero(left));
        out.column(column)[row] = odd(column);
        if (is_null(column)) out.set_null(row, column);
      }
    }
    return out.size() > 0;
  }

  std::int64_t rowid() const { return rowid_; }

  ValueKind kind(std::size_t column) const {
    const Slot& slot = layout_->slots[column];
    return slot.kind == ValueKind::kReal ? kind_of_real(column) : slot.kind;
  }
  bool is_null(std::size_t column) const { return kind(column) == ValueKind::kNull; }

  // A whole number that integer() reads without a branch, or NULL. False does not mean that it is none.
  bool is_integer(std::size_t column) const { return layout_->slots[column].is_whole; }

  // Of an integer; 0 where it is NULL.
  std::int64_t integer(std::size_t column) const {
    const Slot& slot = layout_->slots[column];
    return slot.is_whole ? stored(slot) : other_integer(column);
  }
  // Before the first next(): values that many rows have alike, from one of the columns to another.
  void keep_together(std::size_t first, std::size_t last) { records_.keep_together(first, last); }
  // Their bytes, with those of columns between; empty where they are not all here. Rows of the same layout() and the same bytes have the same values.
  std::string_view together() const {
    if (layout_->number == 0 || std::uint64_t{layout_->together} + layout_->together_bytes > bytes_here_) return {};
    return {reinterpret_cast<const char*>(payload_ + layout_->together), layout_->together_bytes};
  }
  std::uint32_t layout() const { return layout_->number; }

  double real(std::size_t column) const;  // of a real
  // Of a text or blob, as it is stored; valid until next().
  std::string_view bytes(std::size_t column);

 private:
  struct Level {
    std::unique_ptr<Byte[]> bytes;
    TreePage page;
    std::uint32_t child = 0;
    std::int64_t highest = INT64_MAX;  // rowid below the page
  };
  // Of a whole number. Eight bytes that end where it ends, which always lie within the page; what comes before the number is shifted out. Without a
  // branch, because which columns have bytes changes from row to row.
  std::int64_t stored(const Slot& slot) const {
    const unsigned shift = (64 - 8 * slot.bytes) & 63;
    const std::int64_t shifted = static_cast<std::int64_t>(big_endian_8(payload_ + slot.offset + slot.bytes - 8) << shift) >> shift;
    return (shifted & -static_cast<std::int64_t>(slot.place == Slot::Place::kRecord)) | slot.constant;
  }
  void decode(const Slot& slot, std::size_t rows, std::int64_t* out) const;
  std::size_t read_alike(std::size_t most);

  bool next_leaf();
  void descend(std::uint32_t number, std::uint32_t named_by, std::int64_t highest);
  std::uint32_t first_child(const TreePage& page) const;
  std::uint32_t following() const;
  void enter(const TreePage& leaf, std::int64_t highest);

  void read_cell(std::uint32_t index);
  void put_together();
  std::int64_t other_integer(std::size_t column) const;
  ValueKind kind_of_real(std::size_t column) const;

  const PageFile& pages_;
  PageWindow window_;
  std::uint32_t root_;
  RowRange range_;
  RecordReader records_;
  std::vector<Level> levels_;  // from the root to above the leaf
  bool begun_ = false;

  TreePage leaf_;
  std::uint32_t cell_ = 0;                                 // the next one
  std::int64_t lowest_ = INT64_MIN, highest_ = INT64_MAX;  // that the next rowid may be

  std::int64_t rowid_ = 0;
  const Byte* payload_ = nullptr;
  std::uint64_t payload_bytes_ = 0;
  std::uint32_t bytes_here_ = 0;  // of the payload, from payload_
  const RecordLayout* layout_ = nullptr;
  std::array<const Byte*, NumberRows::kMost> payloads_{};  // of rows of one layout on one leaf
  std::vector<Byte> whole_;                                // the payload of a row that lies on several pages, behind eight bytes
};

}  // namespace nl::parsers::sqlite_pages
