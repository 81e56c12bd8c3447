#include "parsers/parquet/values.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "parsers/parquet/bit_runs.h"
#include "parsers/parquet/deltas.h"

namespace nl::parsers::parquet {
namespace {

static_assert(std::endian::native == std::endian::little, "numbers are copied as they lie in the file");

template <class Stored>
Stored number_at(const char* at) {
  Stored value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

// One after another.
template <class Stored>
class PlainNumbers : public ValueReader {
 public:
  explicit PlainNumbers(std::string_view bytes) : rest_(bytes) {}

  bool integers(std::int64_t* out, std::size_t count) override { return read(out, count); }
  bool reals(double* out, std::size_t count) override { return read(out, count); }

 private:
  template <class Out>
  bool read(Out* out, std::size_t count) {
    if (count > rest_.size() / sizeof(Stored)) return false;
    for (std::size_t i = 0; i < count; ++i) out[i] = static_cast<Out>(number_at<Stored>(rest_.data() + i * sizeof(Stored)));
    rest_.remove_prefix(count * sizeof(Stored));
    return true;
  }
  std::string_view rest_;
};

// The first bytes of all, then the second ones …
template <class Stored>
class SplitNumbers : public ValueReader {
 public:
  explicit SplitNumbers(std::string_view bytes) : bytes_(bytes), count_(bytes.size() / sizeof(Stored)) {}

  bool integers(std::int64_t* out, std::size_t count) override { return read(out, count); }
  bool reals(double* out, std::size_t count) override { return read(out, count); }

 private:
  template <class Out>
  bool read(Out* out, std::size_t count) {
    if (count > count_ - at_) return false;
    for (std::size_t i = 0; i < count; ++i, ++at_) {
      char one[sizeof(Stored)];
      for (std::size_t byte = 0; byte < sizeof one; ++byte) one[byte] = bytes_[byte * count_ + at_];
      out[i] = static_cast<Out>(number_at<Stored>(one));
    }
    return true;
  }
  std::string_view bytes_;
  std::size_t count_, at_ = 0;
};

class PlainBooleans : public ValueReader {
 public:
  explicit PlainBooleans(std::string_view bytes) : bytes_(bytes) {}
  bool integers(std::int64_t* out, std::size_t count) override {
    if (count > bytes_.size() * 8 - at_) return false;
    for (std::size_t i = 0; i < count; ++i, ++at_) out[i] = static_cast<std::int64_t>(bits_at(bytes_, at_, 1));
    return true;
  }

 private:
  std::string_view bytes_;
  std::size_t at_ = 0;
};

// Each behind its length, or of one length.
class PlainTexts : public ValueReader {
 public:
  PlainTexts(std::string_view bytes, std::size_t fixed) : rest_(bytes), fixed_(fixed) {}

  bool texts(std::string_view* out, std::size_t count) override {
    for (std::size_t i = 0; i < count; ++i) {
      std::size_t length = fixed_;
      if (fixed_ == 0) {
        if (rest_.size() < sizeof(std::uint32_t)) return false;
        length = number_at<std::uint32_t>(rest_.data());
        rest_.remove_prefix(sizeof(std::uint32_t));
      }
      if (length > rest_.size()) return false;
      out[i] = rest_.substr(0, length);
      rest_.remove_prefix(length);
    }
    return true;
  }

 private:
  std::string_view rest_;
  std::size_t fixed_;
};

// Numbers of the dictionary's values; how many bits one takes stands before them.
class DictionaryValues : public ValueReader {
 public:
  DictionaryValues(std::string_view bytes, const Dictionary& dictionary) : dictionary_(dictionary) {
    const unsigned width = bytes.empty() ? 0 : static_cast<unsigned char>(bytes.front());
    if (!bytes.empty() && width <= BitRuns::kWidest) indices_ = BitRuns(bytes.substr(1), width);
  }

  bool integers(std::int64_t* out, std::size_t count) override { return read(dictionary_.integers, out, count); }
  bool reals(double* out, std::size_t count) override { return read(dictionary_.reals, out, count); }
  bool texts(std::string_view* out, std::size_t count) override { return read(dictionary_.texts, out, count); }

 private:
  template <class Value>
  bool read(const std::vector<Value>& values, Value* out, std::size_t count) {
    std::uint32_t indices[256];
    while (count > 0) {
      const std::size_t some = std::min(count, std::size(indices));
      if (!indices_.read(indices, some)) return false;
      for (std::size_t i = 0; i < some; ++i) {
        if (indices[i] >= values.size()) return false;
        out[i] = values[indices[i]];
      }
      out += some;
      count -= some;
    }
    return true;
  }
  const Dictionary& dictionary_;
  BitRuns indices_;
};

// Behind the length of all, which tells nothing new.
class RunBooleans : public ValueReader {
 public:
  explicit RunBooleans(std::string_view bytes) : runs_(bytes.substr(std::min(bytes.size(), sizeof(std::uint32_t))), 1) {}
  bool integers(std::int64_t* out, std::size_t count) override { return runs_.read(out, count); }

 private:
  BitRuns runs_;
};

template <template <class> class Numbers>
std::unique_ptr<ValueReader> numbers_of(const ColumnSchema& column, std::string_view bytes) {
  switch (column.type) {
    case PhysicalType::kInt32:
      if (column.is_unsigned) return std::make_unique<Numbers<std::uint32_t>>(bytes);
      return std::make_unique<Numbers<std::int32_t>>(bytes);
    case PhysicalType::kInt64: return std::make_unique<Numbers<std::int64_t>>(bytes);
    case PhysicalType::kFloat: return std::make_unique<Numbers<float>>(bytes);
    case PhysicalType::kDouble: return std::make_unique<Numbers<double>>(bytes);
    default: return nullptr;
  }
}

std::unique_ptr<ValueReader> plain_reader(const ColumnSchema& column, std::string_view bytes) {
  switch (column.type) {
    case PhysicalType::kBoolean: return std::make_unique<PlainBooleans>(bytes);
    case PhysicalType::kByteArray: return std::make_unique<PlainTexts>(bytes, 0);
    case PhysicalType::kFixedBytes:
      if (column.fixed_bytes == 0) return nullptr;
      return std::make_unique<PlainTexts>(bytes, column.fixed_bytes);
    default: return numbers_of<PlainNumbers>(column, bytes);
  }
}

bool is_integer(PhysicalType type) { return type == PhysicalType::kInt32 || type == PhysicalType::kInt64; }

}  // namespace

columns::Kind kind_of(PhysicalType type) {
  switch (type) {
    case PhysicalType::kBoolean:
    case PhysicalType::kInt32:
    case PhysicalType::kInt64: return columns::Kind::kInteger;
    case PhysicalType::kFloat:
    case PhysicalType::kDouble: return columns::Kind::kReal;
    case PhysicalType::kByteArray:
    case PhysicalType::kFixedBytes: return columns::Kind::kText;
    case PhysicalType::kInt96: break;
  }
  return columns::Kind::kAbsent;
}

std::unique_ptr<ValueReader> value_reader(const ColumnSchema& column, Encoding encoding, std::string_view bytes, std::size_t values,
                                          const Dictionary* dictionary) {
  const bool is_text = column.type == PhysicalType::kByteArray;
  switch (encoding) {
    case Encoding::kPlain: return plain_reader(column, bytes);
    case Encoding::kPlainDictionary:
    case Encoding::kDictionary:
      if (dictionary == nullptr) return nullptr;
      return std::make_unique<DictionaryValues>(bytes, *dictionary);
    case Encoding::kRle:
      if (column.type != PhysicalType::kBoolean) return nullptr;
      return std::make_unique<RunBooleans>(bytes);
    case Encoding::kDelta: return is_integer(column.type) ? delta_integers(column, bytes) : nullptr;
    case Encoding::kDeltaLengths: return is_text ? delta_length_texts(bytes, values) : nullptr;
    case Encoding::kDeltaTexts: return is_text ? delta_texts(bytes, values) : nullptr;
    case Encoding::kByteStreams: return numbers_of<SplitNumbers>(column, bytes);
  }
  return nullptr;
}

bool read_dictionary(const ColumnSchema& column, columns::Bytes bytes, std::size_t values, Dictionary& dictionary) {
  const std::unique_ptr<ValueReader> reader = plain_reader(column, bytes.view);
  // Every value but a truth takes a byte or more.
  if (reader == nullptr || values > bytes.view.size()) return false;
  dictionary.memory = bytes.memory;
  switch (kind_of(column.type)) {
    case columns::Kind::kInteger: dictionary.integers.resize(values); return reader->integers(dictionary.integers.data(), values);
    case columns::Kind::kReal: dictionary.reals.resize(values); return reader->reals(dictionary.reals.data(), values);
    case columns::Kind::kText: dictionary.texts.resize(values); return reader->texts(dictionary.texts.data(), values);
    case columns::Kind::kAbsent: break;
  }
  return false;
}

}  // namespace nl::parsers::parquet
