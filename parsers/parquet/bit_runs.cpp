#include "parsers/parquet/bit_runs.h"

#include <algorithm>

namespace nl::parsers::parquet {

bool take_varint(std::string_view& bytes, std::uint64_t& value) {
  value = 0;
  for (int shift = 0; shift < 64 && !bytes.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(bytes.front());
    bytes.remove_prefix(1);
    value |= std::uint64_t{byte & 0x7Fu} << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

// The lowest bit of the head says which: 0, so often the number that follows; 1, so many times eight packed numbers.
bool BitRuns::next_run() {
  std::uint64_t head = 0;
  do {
    if (!take_varint(rest_, head)) return false;
    packed_ = (head & 1) != 0;
    at_ = 0;
    if (packed_) {
      const std::uint64_t groups = head >> 1, bytes = groups * width_;
      if (width_ > 0 && groups > rest_.size() / width_ + 1) return false;
      run_ = rest_.substr(0, bytes);  // writers may leave out what the last group does not need
      rest_.remove_prefix(run_.size());
      left_ = width_ > 0 ? std::min<std::uint64_t>(groups * 8, run_.size() * 8 / width_) : groups * 8;
    } else {
      const std::size_t bytes = (width_ + 7) / 8;
      if (rest_.size() < bytes) return false;
      value_ = bits_at(rest_, 0, width_);
      rest_.remove_prefix(bytes);
      left_ = head >> 1;
    }
  } while (left_ == 0);
  return true;
}

}  // namespace nl::parsers::parquet
