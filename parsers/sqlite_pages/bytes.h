#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

// Numbers as SQLite's files have them: big-endian, and varints of one to nine bytes.
namespace nl::parsers::sqlite_pages {

using Byte = std::uint8_t;

inline std::uint64_t big_endian_8(const Byte* at) {
  std::uint64_t value;
  std::memcpy(&value, at, sizeof value);
  return std::endian::native == std::endian::little ? __builtin_bswap64(value) : value;
}

inline std::uint32_t big_endian_4(const Byte* at) {
  std::uint32_t value;
  std::memcpy(&value, at, sizeof value);
  return std::endian::native == std::endian::little ? __builtin_bswap32(value) : value;
}

inline std::uint32_t big_endian_2(const Byte* at) { return static_cast<std::uint32_t>(at[0]) << 8 | at[1]; }

// Seven bits a byte, the most significant first, while the top bit is set; a ninth byte counts whole. Returns what follows it, or nullptr where
// it does not end before `end`.
inline const Byte* read_varint(const Byte* at, const Byte* end, std::uint64_t& value) {
  if (at < end && *at < 0x80) {
    value = *at;
    return at + 1;
  }
  value = 0;
  for (int i = 0; i < 8; ++i, ++at) {
    if (at >= end) return nullptr;
    value = value << 7 | (*at & 0x7F);
    if (*at < 0x80) return at + 1;
  }
  if (at >= end) return nullptr;
  value = value << 8 | *at;
  return at + 1;
}

}  // namespace nl::parsers::sqlite_pages
