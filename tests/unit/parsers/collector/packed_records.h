#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "collector/trace_format.h"

// Packed records of the GPU half, as the collector writes them into its blocks.
namespace nl::test {

inline std::string packed_number(std::uint64_t value) {
  std::string out;
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
  return out + static_cast<char>(value);
}

// How a signed difference is written.
inline std::uint64_t zigzag(std::int64_t value) { return static_cast<std::uint64_t>(value) << 1 ^ static_cast<std::uint64_t>(value >> 63); }

inline std::string packed_record(trace_format::Tag tag, const std::vector<std::uint64_t>& fields, std::uint8_t flags = 0) {
  std::string out(1, static_cast<char>(static_cast<std::uint8_t>(tag) | flags));
  for (const std::uint64_t field : fields) out += packed_number(field);
  return out;
}

}  // namespace nl::test
