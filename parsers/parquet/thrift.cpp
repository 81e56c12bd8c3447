#include "parsers/parquet/thrift.h"

#include <fmt/core.h>

namespace nl::parsers::parquet {

void ThriftReader::damaged() const { file_.damaged(fmt::format("{} cannot be read beyond its byte {}", what_, used())); }

ThriftReader::Kind ThriftReader::kind_of(std::uint8_t head) const {
  const std::uint8_t kind = head & 15;
  if (kind == 0 || kind > kUuid) damaged();
  return static_cast<Kind>(kind);
}

std::uint8_t ThriftReader::byte() {
  if (rest_.empty()) damaged();
  const auto value = static_cast<std::uint8_t>(rest_.front());
  rest_.remove_prefix(1);
  return value;
}

std::uint64_t ThriftReader::varint() {
  std::uint64_t value = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    const std::uint8_t part = byte();
    value |= std::uint64_t{part & 0x7Fu} << shift;
    if (part < 0x80) return value;
  }
  damaged();
}

std::int64_t ThriftReader::zigzag() {
  const std::uint64_t value = varint();
  return static_cast<std::int64_t>(value >> 1 ^ (0 - (value & 1)));
}

std::int64_t ThriftReader::number(Kind kind) {
  if (kind == kByte) return static_cast<std::int8_t>(byte());
  if (kind < kByte || kind > kI64) damaged();
  return zigzag();
}

bool ThriftReader::truth(Kind kind, bool& value) {
  if (kind != kTrue && kind != kFalse) damaged();
  value = kind == kTrue;
  return true;
}

bool ThriftReader::text(Kind kind, std::string_view& value) {
  if (kind != kBinary) damaged();
  value = bytes(varint());
  return true;
}

std::string_view ThriftReader::bytes(std::uint64_t count) {
  if (count > rest_.size()) damaged();
  const std::string_view taken = rest_.substr(0, count);
  rest_.remove_prefix(count);
  return taken;
}

// One byte has the count, or 15 where it follows, and the kind of the elements.
std::uint64_t ThriftReader::begin_list(Kind kind, Kind of) {
  if (kind != kList) damaged();
  const std::uint8_t head = byte();
  const std::uint64_t count = head >> 4 == 15 ? varint() : head >> 4;
  if (count > 0 && kind_of(head) != of) damaged();
  return count;
}

void ThriftReader::pass_over_elements(std::uint64_t count, Kind of, int depth) {
  for (; count > 0; --count) {
    if (of == kTrue || of == kFalse) byte();  // in a list it has one
    else pass_over(of, depth + 1);
  }
}

void ThriftReader::pass_over(Kind kind, int depth) {
  if (depth > kDeepest) damaged();
  switch (kind) {
    case kTrue:
    case kFalse: return;
    case kByte: byte(); return;
    case kI16:
    case kI32:
    case kI64: varint(); return;
    case kDouble: bytes(8); return;
    case kUuid: bytes(16); return;
    case kBinary: bytes(varint()); return;
    case kList:
    case kSet: {
      const std::uint8_t head = byte();
      const std::uint64_t count = head >> 4 == 15 ? varint() : head >> 4;
      if (count > 0) pass_over_elements(count, kind_of(head), depth);
      return;
    }
    case kMap: {
      const std::uint64_t count = varint();
      if (count == 0) return;
      const std::uint8_t kinds = byte();
      for (std::uint64_t i = 0; i < count; ++i) {
        pass_over_elements(1, kind_of(kinds >> 4), depth);
        pass_over_elements(1, kind_of(kinds), depth);
      }
      return;
    }
    case kStruct:
      for (std::uint8_t head = byte(); head != 0; head = byte()) {
        if (head >> 4 == 0) zigzag();
        pass_over(kind_of(head), depth + 1);
      }
  }
}

}  // namespace nl::parsers::parquet
