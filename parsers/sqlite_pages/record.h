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
  std::array<Byte, kMostHeader> header{};
  std::uint32_t header_bytes = 0;   // 0: nothing is known yet
  std::uint64_t payload_bytes = 0;  // of header and values
  std::uint32_t numbers_end = 0;    // behind the last number that is wanted
  std::vector<Slot> slots;          // by wanted column
  // The bytes that hold all values of the columns that are kept together; of the same number and the same bytes, all of them are equal.
  std::uint32_t together = 0, together_bytes = 0;
  std::uint32_t number = 0;  // of this layout, from 1; 0: they are not together
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
    if (last_->header_bytes == bytes && std::memcmp(last_->header.data(), at, bytes) == 0) return last_;
    return look_up(at, bytes);
  }
  const std::vector<WantedColumn>& wanted() const { return wanted_; }

 private:
  static constexpr std::size_t kKept = 256;  // what a byte of a hash can number
  const RecordLayout* look_up(const Byte* at, std::size_t bytes);
  const RecordLayout* read_long(const Byte* at, const Byte* end);
  bool read(const Byte* at, const Byte* end, RecordLayout& layout);
  void place_missing(std::size_t columns, RecordLayout& layout) const;
  void find_together(RecordLayout& layout);

  std::vector<WantedColumn> wanted_;
  std::vector<std::vector<std::size_t>> wanted_as_;  // by column of the table: which wanted columns it is
  std::vector<RecordLayout> kept_;                   // by a hash of the header's bytes
  RecordLayout long_;                                // of headers that are too long to be kept
  const RecordLayout* last_ = nullptr;
  std::size_t first_together_ = 0, end_together_ = 0;  // wanted columns
  std::uint32_t numbered_ = 0;                         // layouts
};

}  // namespace nl::parsers::sqlite_pages
