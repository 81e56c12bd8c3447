#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace nl::parsers::parquet {

// A number of `width` bits, from bit number `at` on; bits beyond the end are 0.
inline std::uint64_t bits_at(std::string_view bytes, std::size_t at, unsigned width) {
  if (width == 0) return 0;
  const std::size_t first = at / 8, shift = at % 8;
  std::uint64_t word = 0;
  if (first + sizeof word <= bytes.size()) std::memcpy(&word, bytes.data() + first, sizeof word);
  else if (first < bytes.size()) std::memcpy(&word, bytes.data() + first, bytes.size() - first);
  std::uint64_t value = word >> shift;
  if (shift + width > 64 && first + sizeof word < bytes.size())
    value |= std::uint64_t{static_cast<unsigned char>(bytes[first + sizeof word])} << (64 - shift);
  return width == 64 ? value : value & ((std::uint64_t{1} << width) - 1);
}

// Seven bits a byte, the lowest first. False where it does not end within the bytes.
bool take_varint(std::string_view& bytes, std::uint64_t& value);

// Runs of one number and runs of packed bits, in turns: levels, booleans, and indices of a dictionary.
class BitRuns {
 public:
  static constexpr unsigned kWidest = 32;
  BitRuns() = default;
  BitRuns(std::string_view bytes, unsigned width) : rest_(bytes), width_(width) {}

  // The next numbers; false where they are not all there.
  template <class Number>
  bool read(Number* out, std::size_t count) {
    while (count > 0) {
      if (left_ == 0 && !next_run()) return false;
      const std::size_t some = left_ < count ? static_cast<std::size_t>(left_) : count;
      if (packed_)
        for (std::size_t i = 0; i < some; ++i) out[i] = static_cast<Number>(bits_at(run_, (at_ + i) * width_, width_));
      else
        for (std::size_t i = 0; i < some; ++i) out[i] = static_cast<Number>(value_);
      at_ += some;
      left_ -= some;
      out += some;
      count -= some;
    }
    return true;
  }

 private:
  bool next_run();

  std::string_view rest_, run_;
  unsigned width_ = 0;
  bool packed_ = false;
  std::uint64_t left_ = 0;
  std::size_t at_ = 0;
  std::uint64_t value_ = 0;
};

}  // namespace nl::parsers::parquet
