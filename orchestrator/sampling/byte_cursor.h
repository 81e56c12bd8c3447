#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace nl::orchestrator::sampling {

// Reads numbers one after another. Past the end they are 0, and it is not ok() any more.
class ByteCursor {
 public:
  explicit ByteCursor(std::span<const unsigned char> bytes) : bytes_(bytes) {}

  bool ok() const { return ok_; }
  bool at_end() const { return at_ >= bytes_.size(); }
  std::size_t at() const { return at_; }

  template <class Number>
  Number fixed() {
    Number value{};
    if (bytes_.size() - at_ < sizeof value) return fail(), value;
    std::memcpy(&value, bytes_.data() + at_, sizeof value);
    at_ += sizeof value;
    return value;
  }

  // LEB128
  std::uint64_t number() {
    std::uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
      const auto byte = fixed<std::uint8_t>();
      if (shift < 64) value |= std::uint64_t{byte & 0x7Fu} << shift;
      if ((byte & 0x80) == 0 || !ok_) return value;
    }
  }
  std::int64_t signed_number() {
    std::uint64_t value = 0;
    for (unsigned shift = 0;;) {
      const auto byte = fixed<std::uint8_t>();
      if (shift < 64) value |= std::uint64_t{byte & 0x7Fu} << shift;
      shift += 7;
      if ((byte & 0x80) != 0 && ok_) continue;
      if ((byte & 0x40) != 0 && shift < 64) value |= ~std::uint64_t{0} << shift;
      return static_cast<std::int64_t>(value);
    }
  }

  std::vector<unsigned char> take(std::uint64_t count) {
    if (count > bytes_.size() - at_) return fail(), std::vector<unsigned char>();
    const auto part = bytes_.subspan(at_, static_cast<std::size_t>(count));
    at_ += part.size();
    return {part.begin(), part.end()};
  }
  void skip(std::uint64_t count) {
    if (count > bytes_.size() - at_) fail();
    else at_ += static_cast<std::size_t>(count);
  }

 private:
  void fail() {
    ok_ = false;
    at_ = bytes_.size();
  }

  std::span<const unsigned char> bytes_;
  std::size_t at_ = 0;
  bool ok_ = true;
};

}  // namespace nl::orchestrator::sampling
