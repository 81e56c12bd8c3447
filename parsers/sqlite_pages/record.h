#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "parsers/sqlite_pages/bytes.h"

namespace nl::parsers::sqlite_pages {

enum class ValueKind : std::uint8_t { kNull, kInteger, kReal, kText, kBlob };

// Where the value of a column is.
struct Slot {
  enum class Place : std::uint8_t {
    kRecord,
    kHeader,  // NULL, 0 and 1 are said by the type alone
    kRowid,
    kDefault,  // the record is older than the column
  };
  std::uint32_t offset = 0;  // from the start of the payload
  std::uint32_t bytes = 0;
  std::uint8_t constant = 0;  // where the header says the number
  ValueKind kind = ValueKind::kNull;
  Place place = Place::kHeader;
  bool is_whole = true;  // a whole number of the record or of its header; NULL counts as 0
};

// What a record's header says: the types of its values, and so where each of the wanted columns is.
//   header bytes (varint), a serial type (varint) for each column, then the values
struct RecordLayout {
  static constexpr std::size_t kMostHeader = 64;
  static constexpr std::size_t kBefore = 8;  // bytes are compared eight at a time, from the end
  std::array<Byte, kBefore + kMostHeader> key{};
  std::uint32_t key_bytes = 0;    // of the header: up to the last wanted column's type; 0: nothing is known yet
  std::uint64_t nulls = 0;        // by bit, which of the first 64 wanted columns are NULL
  std::uint64_t odd = 0;          // and which are not whole numbers
  std::uint32_t numbers_end = 0;  // behind the last number that is wanted
  std::uint64_t least_bytes = 0;  // of header and values: what the values that are wanted need
  bool whole = false;             // exactly so many: all columns are known
  std::vector<Slot> slots;        // by wanted column
  // The bytes that hold all values of the columns that are kept together; of the same number and the same bytes, all of them are equal.
  std::uint32_t together = 0, together_bytes = 0;
  std::uint32_t number = 0;  // of this layout, from 1; 0: they are not together

  bool has_key(const Byte* at) const {
    const Byte *end = at + key_bytes, *mine = key.data() + kBefore + key_bytes;
    std::size_t bytes = key_bytes;
    for (; bytes >= 8; bytes -= 8, end -= 8, mine -= 8)
      if (big_endian_8(end - 8) != big_endian_8(mine - 8)) return false;
    return bytes == 0 || (big_endian_8(end - 8) ^ big_endian_8(mine - 8)) << (64 - 8 * bytes) == 0;
  }
};

// What of a table's columns is wanted.
struct WantedColumn {
  static constexpr int kAbsent = -1;
  int index = kAbsent;  // in the table; NULL where it is absent
  bool is_rowid = false;
  bool is_real = false;  // whole numbers are stored for reals
  // Of records that were written before the column was added.
  ValueKind default_kind = ValueKind::kNull;
  std::int64_t default_integer = 0;
  std::string default_text;
};

// Reads headers. Rows of one table have few different ones, so that what they say is looked up by their bytes rather than read again.
class RecordReader {
 public:
  explicit RecordReader(std::vector<WantedColumn> wanted);

  // Before any header is read: from one wanted column to another.
  void keep_together(std::size_t first, std::size_t last) {
    first_together_ = first;
    end_together_ = last + 1;
  }

  // The header begins at `at` and lies whole before `end`; at least 8 bytes before `at` can be read. nullptr where it cannot be a header.
  const RecordLayout* layout(const Byte* at, const Byte* end) {
    const std::size_t bytes = *at;
    if (bytes == 0 || bytes > RecordLayout::kMostHeader || bytes > static_cast<std::size_t>(end - at)) return read_long(at, end);
    if (last_->key_bytes - 1 < bytes && last_->has_key(at)) return last_;
    return look_up(at, bytes);
  }
  const std::vector<WantedColumn>& wanted() const { return wanted_; }

 private:
  static constexpr std::size_t kKept = 256;  // what a byte of a hash can number
  std::size_t key_of(const Byte* at, std::size_t bytes) const;
  const RecordLayout* look_up(const Byte* at, std::size_t bytes);
  const RecordLayout* read_long(const Byte* at, const Byte* end);
  bool read(const Byte* at, const Byte* end, RecordLayout& layout);
  void place_missing(std::size_t columns, RecordLayout& layout) const;
  void find_together(RecordLayout& layout);
  static void find_odd(RecordLayout& layout);

  std::vector<WantedColumn> wanted_;
  std::vector<std::vector<std::size_t>> wanted_as_;  // by column of the table: which wanted columns it is
  std::vector<RecordLayout> kept_;                   // by a hash of the key
  RecordLayout long_;                                // of headers that are too long to be kept
  const RecordLayout* last_ = nullptr;
  std::size_t first_together_ = 0, end_together_ = 0;  // wanted columns
  std::uint32_t numbered_ = 0;                         // layouts
};

}  // namespace nl::parsers::sqlite_pages
