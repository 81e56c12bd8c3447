#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

// Numbers as both formats have them: the lowest byte first, bits from the lowest.
namespace nl::exporters::fact_tables {

static_assert(std::endian::native == std::endian::little, "numbers are copied as they lie in memory");

template <class Number>
  requires std::is_arithmetic_v<Number>
void append_number(std::string& out, Number value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

template <class Number>
void append_numbers(std::string& out, const std::vector<Number>& values) {
  out.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(Number));
}

template <class Number>
void replace_number(std::string& out, std::size_t at, Number value) {
  std::memcpy(out.data() + at, &value, sizeof value);
}

inline void pad_to(std::string& out, std::size_t alignment) { out.append((alignment - out.size() % alignment) % alignment, '\0'); }

inline std::string packed_bits(const std::vector<bool>& bits) {
  std::string out((bits.size() + 7) / 8, '\0');
  for (std::size_t i = 0; i < bits.size(); ++i)
    if (bits[i]) out[i / 8] = static_cast<char>(out[i / 8] | (1 << (i % 8)));
  return out;
}

}  // namespace nl::exporters::fact_tables
