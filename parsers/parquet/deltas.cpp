#include "parsers/parquet/deltas.h"

#include <algorithm>
#include <cstring>

#include "parsers/parquet/bit_runs.h"

namespace nl::parsers::parquet {
namespace {

std::uint64_t zigzag(std::uint64_t value) { return value >> 1 ^ (0 - (value & 1)); }

class DeltaIntegers : public ValueReader {
 public:
  DeltaIntegers(bool is_short, bool is_unsigned, std::string_view bytes)
      : is_short_(is_short), is_unsigned_(is_unsigned), numbers_(bytes) {}

  bool integers(std::int64_t* out, std::size_t count) override {
    if (!numbers_.read(out, count)) return false;
    if (is_short_)  // sums of 32 bits
      for (std::size_t i = 0; i < count; ++i)
        out[i] = is_unsigned_ ? std::int64_t{static_cast<std::uint32_t>(out[i])} : std::int64_t{static_cast<std::int32_t>(out[i])};
    return true;
  }

 private:
  bool is_short_, is_unsigned_;
  DeltaNumbers numbers_;
};

using Lengths = std::vector<std::uint32_t>;

// All of a page's, and what follows them.
bool read_lengths(std::string_view& bytes, std::size_t values, Lengths& lengths) {
  DeltaNumbers numbers(bytes);
  if (numbers.left() > values) return false;
  lengths.resize(numbers.left());
  for (std::uint32_t& length : lengths) {
    std::int64_t number = 0;
    if (!numbers.read(&number, 1) || number < 0 || number > INT32_MAX) return false;
    length = static_cast<std::uint32_t>(number);
  }
  bytes = numbers.rest();
  return true;
}

class DeltaLengthTexts : public ValueReader {
 public:
  DeltaLengthTexts(Lengths lengths, std::string_view bytes) : lengths_(std::move(lengths)), rest_(bytes) {}

  bool texts(std::string_view* out, std::size_t count) override {
    if (count > lengths_.size() - at_) return false;
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint32_t length = lengths_[at_++];
      if (length > rest_.size()) return false;
      out[i] = rest_.substr(0, length);
      rest_.remove_prefix(length);
    }
    return true;
  }

 private:
  Lengths lengths_;
  std::string_view rest_;
  std::size_t at_ = 0;
};

// Each text begins as the one before it does.
class DeltaTexts : public ValueReader {
 public:
  DeltaTexts(Lengths prefixes, std::unique_ptr<ValueReader> suffixes) : prefixes_(std::move(prefixes)), suffixes_(std::move(suffixes)) {}

  bool texts(std::string_view* out, std::size_t count) override {
    if (count > prefixes_.size() - at_ || !suffixes_->texts(out, count)) return false;
    std::size_t size = 0, before = last_.size();
    for (std::size_t i = 0; i < count; ++i) {
      if (prefixes_[at_ + i] > before) return false;
      before = prefixes_[at_ + i] + out[i].size();
      size += before;
    }
    if (size > kMostBytes) return false;
    const std::shared_ptr<char[]> made(new char[size + 1]);
    std::string_view last = last_;
    char* at = made.get();
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t prefix = prefixes_[at_++];
      std::memcpy(at, last.data(), prefix);
      if (!out[i].empty()) std::memcpy(at + prefix, out[i].data(), out[i].size());
      last = out[i] = {at, prefix + out[i].size()};
      at += last.size();
    }
    last_ = last;
    memory_ = made;
    return true;
  }
  columns::Memory made_memory() const override { return memory_; }

 private:
  static constexpr std::size_t kMostBytes = std::size_t{256} << 20;

  Lengths prefixes_;
  std::unique_ptr<ValueReader> suffixes_;
  std::size_t at_ = 0;
  std::string last_;
  columns::Memory memory_;
};

}  // namespace

// Values of a block, small blocks in it, values of all, the first value.
bool DeltaNumbers::read_head() {
  constexpr std::uint64_t kMostOfSmallBlock = 1 << 16;
  std::uint64_t per_block = 0, first = 0;
  if (!take_varint(rest_, per_block) || !take_varint(rest_, small_blocks_) || !take_varint(rest_, left_) || !take_varint(rest_, first))
    return false;
  if (small_blocks_ == 0 || per_block % small_blocks_ != 0) return false;
  per_small_block_ = per_block / small_blocks_;
  last_ = zigzag(first);
  return per_small_block_ % 8 == 0 && per_small_block_ > 0 && per_small_block_ <= kMostOfSmallBlock;
}

// The least difference, then how many bits the differences take in each small block.
bool DeltaNumbers::next_block() {
  if (!take_varint(rest_, least_) || small_blocks_ > rest_.size()) return false;
  least_ = zigzag(least_);
  widths_ = rest_.substr(0, small_blocks_);
  rest_.remove_prefix(small_blocks_);
  return true;
}

// Those that no value is left for may be missing.
bool DeltaNumbers::next_small_block() {
  if (widths_.empty() && !next_block()) return false;
  width_ = static_cast<unsigned char>(widths_.front());
  widths_.remove_prefix(1);
  const std::uint64_t bytes = per_small_block_ / 8 * width_;
  if (width_ > 64 || bytes > rest_.size()) return false;
  packed_ = rest_.substr(0, bytes);
  rest_.remove_prefix(bytes);
  at_ = 0;
  in_block_ = per_small_block_;
  return true;
}

bool DeltaNumbers::read(std::int64_t* out, std::size_t count) {
  if (!sound_ || count > left_) return false;
  for (std::size_t i = 0; i < count; ++i) {
    if (!first_) {
      if (at_ == in_block_ && !next_small_block()) return false;
      last_ += least_ + bits_at(packed_, at_++ * width_, static_cast<unsigned>(width_));
    }
    first_ = false;
    out[i] = static_cast<std::int64_t>(last_);
  }
  left_ -= count;
  return true;
}

std::unique_ptr<ValueReader> delta_integers(const ColumnSchema& column, std::string_view bytes) {
  return std::make_unique<DeltaIntegers>(column.type == PhysicalType::kInt32, column.is_unsigned, bytes);
}

std::unique_ptr<ValueReader> delta_length_texts(std::string_view bytes, std::size_t values) {
  Lengths lengths;
  if (!read_lengths(bytes, values, lengths)) return nullptr;
  return std::make_unique<DeltaLengthTexts>(std::move(lengths), bytes);
}

std::unique_ptr<ValueReader> delta_texts(std::string_view bytes, std::size_t values) {
  Lengths prefixes;
  if (!read_lengths(bytes, values, prefixes)) return nullptr;
  std::unique_ptr<ValueReader> suffixes = delta_length_texts(bytes, values);
  if (suffixes == nullptr) return nullptr;
  return std::make_unique<DeltaTexts>(std::move(prefixes), std::move(suffixes));
}

}  // namespace nl::parsers::parquet
