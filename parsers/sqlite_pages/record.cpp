#include "parsers/sqlite_pages/record.h"

#include <algorithm>

namespace nl::parsers::sqlite_pages {
namespace {

// Serial types: 0 NULL, 1 to 6 whole numbers, 7 a real, 8 and 9 the numbers 0 and 1, from 12 on blobs (even) and texts (odd).
constexpr std::array<std::uint32_t, 10> kNumberBytes = {0, 1, 2, 3, 4, 6, 8, 8, 0, 0};
constexpr std::uint64_t kReal = 7, kOne = 9, kFirstReserved = 10, kFirstBytes = 12;
constexpr std::uint64_t kMostHeaderBytes = 98307;  // of the most columns that SQLite has

std::uint64_t bytes_of(std::uint64_t type) { return type < kFirstBytes ? kNumberBytes[type] : (type - kFirstBytes) / 2; }

ValueKind kind_of(std::uint64_t type) {
  if (type >= kFirstBytes) return type % 2 == 0 ? ValueKind::kBlob : ValueKind::kText;
  if (type == 0) return ValueKind::kNull;
  return type == kReal ? ValueKind::kReal : ValueKind::kInteger;
}

Slot slot_of(std::uint64_t type, std::uint32_t offset, const WantedColumn& column) {
  Slot slot;
  slot.offset = offset;
  slot.bytes = static_cast<std::uint32_t>(bytes_of(type));
  slot.constant = type == kOne ? 1 : 0;
  slot.kind = kind_of(type);
  slot.is_whole = slot.kind == ValueKind::kNull || slot.kind == ValueKind::kInteger;
  if (!slot.is_whole || slot.bytes > 0) slot.place = Slot::Place::kRecord;
  if (column.is_real && slot.kind == ValueKind::kInteger) slot.kind = ValueKind::kReal;
  return slot;
}

// Of up to 64 bytes, eight at a time; the first of them may share its eight with what lies before.
std::uint64_t hash_of(const Byte* at, std::size_t bytes) {
  std::uint64_t hash = bytes;
  const Byte* end = at + bytes;
  for (; bytes >= 8; bytes -= 8, end -= 8) hash = (hash ^ big_endian_8(end - 8)) * 0x9E3779B97F4A7C15ULL;
  if (bytes > 0) hash = (hash ^ (big_endian_8(end - 8) << (64 - 8 * bytes))) * 0x9E3779B97F4A7C15ULL;
  return hash;
}

}  // namespace

RecordReader::RecordReader(std::vector<WantedColumn> wanted) : wanted_(std::move(wanted)), kept_(kKept), last_(&kept_.front()) {
  for (std::size_t i = 0; i < wanted_.size(); ++i) {
    if (wanted_[i].index == WantedColumn::kAbsent) continue;
    const auto column = static_cast<std::size_t>(wanted_[i].index);
    if (wanted_as_.size() <= column) wanted_as_.resize(column + 1);
    wanted_as_[column].push_back(i);
  }
}

// Types of a byte each end with that of the last wanted column; what follows moves none of them.
std::size_t RecordReader::key_of(const Byte* at, std::size_t bytes) const {
  const std::size_t wanted = 1 + wanted_as_.size();
  if (wanted >= bytes || std::any_of(at, at + wanted, [](Byte type) { return type >= 0x80; })) return bytes;
  return wanted;
}

// Each key has two places, so that two that are met by turns do not drive each other out.
const RecordLayout* RecordReader::look_up(const Byte* at, std::size_t bytes) {
  const std::size_t key = key_of(at, bytes);
  const std::size_t first = hash_of(at, key) >> 56 & (kKept - 1);
  for (const std::size_t place : {first, first ^ 1})
    if (kept_[place].key_bytes == key && kept_[place].has_key(at)) return last_ = &kept_[place];
  RecordLayout& kept = kept_[kept_[first].key_bytes == 0 || kept_[first ^ 1].key_bytes != 0 ? first : first ^ 1];
  kept.key_bytes = 0;
  if (!read(at, at + key, kept)) return nullptr;
  kept.whole = key == bytes;
  std::memcpy(kept.key.data() + RecordLayout::kBefore, at, key);
  kept.key_bytes = static_cast<std::uint32_t>(key);
  return last_ = &kept;
}

const RecordLayout* RecordReader::read_long(const Byte* at, const Byte* end) {
  std::uint64_t bytes;
  if (read_varint(at, end, bytes) == nullptr || bytes > static_cast<std::uint64_t>(end - at) || bytes > kMostHeaderBytes) return nullptr;
  long_.whole = true;
  return read(at, at + bytes, long_) ? &long_ : nullptr;
}

bool RecordReader::read(const Byte* at, const Byte* end, RecordLayout& layout) {
  layout.slots.assign(wanted_.size(), {});
  layout.numbers_end = 0;
  std::uint64_t offset;
  const Byte* type_at = read_varint(at, end, offset);
  if (type_at == nullptr) return false;
  std::size_t column = 0;
  for (; type_at < end; ++column) {
    std::uint64_t type;
    type_at = read_varint(type_at, end, type);
    if (type_at == nullptr || type == kFirstReserved || type == kFirstReserved + 1) return false;
    if (bytes_of(type) > INT32_MAX || offset + bytes_of(type) > INT32_MAX) return false;
    if (column < wanted_as_.size())
      for (const std::size_t wanted : wanted_as_[column]) {
        layout.slots[wanted] = slot_of(type, static_cast<std::uint32_t>(offset), wanted_[wanted]);
        if (type < kFirstBytes) layout.numbers_end = static_cast<std::uint32_t>(offset + bytes_of(type));
      }
    offset += bytes_of(type);
  }
  layout.least_bytes = offset;
  place_missing(column, layout);
  find_odd(layout);
  find_together(layout);
  return true;
}

void RecordReader::find_odd(RecordLayout& layout) {
  layout.nulls = layout.odd = 0;
  for (std::size_t i = 0; i < std::min<std::size_t>(layout.slots.size(), 64); ++i) {
    const std::uint64_t bit = std::uint64_t{1} << i;
    if (!layout.slots[i].is_whole) layout.odd |= bit;
    else if (layout.slots[i].kind == ValueKind::kNull) layout.nulls |= bit;
  }
}

// Values that the header or the table says are the same in all records of this layout.
void RecordReader::find_together(RecordLayout& layout) {
  layout.number = 0;
  std::uint32_t begin = UINT32_MAX, end = 0;
  for (std::size_t i = first_together_; i < end_together_; ++i) {
    const Slot& slot = layout.slots[i];
    if (slot.place == Slot::Place::kRowid) return;
    if (slot.place != Slot::Place::kRecord) continue;
    begin = std::min(begin, slot.offset);
    end = std::max(end, slot.offset + slot.bytes);
  }
  if (begin >= end || numbered_ == UINT32_MAX) return;
  layout.together = begin;
  layout.together_bytes = end - begin;
  layout.number = ++numbered_;
}

// What no record has, and what this one is too short for.
void RecordReader::place_missing(std::size_t columns, RecordLayout& layout) const {
  for (std::size_t i = 0; i < wanted_.size(); ++i) {
    const WantedColumn& column = wanted_[i];
    if (column.is_rowid) layout.slots[i] = {.kind = ValueKind::kInteger, .place = Slot::Place::kRowid, .is_whole = false};
    else if (column.index >= 0 && static_cast<std::size_t>(column.index) >= columns && column.default_kind != ValueKind::kNull)
      layout.slots[i] = {.kind = column.default_kind, .place = Slot::Place::kDefault, .is_whole = false};
  }
}

}  // namespace nl::parsers::sqlite_pages
