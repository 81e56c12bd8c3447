#include "parsers/arrow/stored_values.h"

#include <bit>
#include <cstring>

#include <fmt/core.h>

namespace nl::parsers::arrow {
namespace {

static_assert(std::endian::native == std::endian::little, "numbers are copied as they lie in the file");

columns::Kind kind_of(const Layout& layout) {
  switch (layout.type) {
    case Type::kFloat: return layout.value_bytes == 4 || layout.value_bytes == 8 ? columns::Kind::kReal : columns::Kind::kAbsent;
    case Type::kInt:
    case Type::kBool:
    case Type::kDate:
    case Type::kTime:
    case Type::kTimestamp:
    case Type::kDuration: return columns::Kind::kInteger;
    case Type::kUtf8:
    case Type::kBinary:
    case Type::kLargeUtf8:
    case Type::kLargeBinary:
    case Type::kFixedBinary: return columns::Kind::kText;
    default: return columns::Kind::kAbsent;
  }
}

bool has_long_offsets(Type type) { return type == Type::kLargeUtf8 || type == Type::kLargeBinary; }

template <class Stored>
Stored number_at(std::string_view bytes, std::uint64_t number) {
  Stored value;
  std::memcpy(&value, bytes.data() + number * sizeof(Stored), sizeof value);
  return value;
}

bool bit_at(std::string_view bits, std::uint64_t number) { return (bits[number / 8] >> (number % 8) & 1) != 0; }

template <class Stored, class Value>
void copy_numbers(std::string_view bytes, std::uint64_t at, std::vector<Value>& into) {
  for (std::size_t i = 0; i < into.size(); ++i) into[i] = static_cast<Value>(number_at<Stored>(bytes, at + i));
}

}  // namespace

StoredValues::StoredValues(const columns::MappedFile& file, const Field& field, const Layout& layout, const Batch& batch, std::size_t node,
                           std::size_t buffer)
    : file_(file), field_(field), layout_(layout), batch_at_(batch.at), rows_(0), kind_(kind_of(layout)) {
  if (node >= batch.node_rows.size()) damaged("is not in it");
  rows_ = batch.node_rows[node];
  if (layout.type == Type::kNull) return;
  if (kind_ == columns::Kind::kAbsent)
    file.refused(fmt::format("column '{}' is of a type that is not read ({})", field.name, int(layout.type)));
  known_ = bytes_of(batch, buffer);
  if (!known_.view.empty()) need(known_, (rows_ + 7) / 8);
  first_ = bytes_of(batch, buffer + 1);
  if (layout.type == Type::kBool) {
    need(first_, (rows_ + 7) / 8);
    return;
  }
  if (kind_ != columns::Kind::kText || layout.type == Type::kFixedBinary) {
    const std::uint32_t bytes = layout.value_bytes;
    if (bytes == 0 || (kind_ != columns::Kind::kText && (bytes > 8 || !std::has_single_bit(bytes)))) damaged("has numbers of no size");
    need(first_, rows_ * bytes);
    return;
  }
  if (rows_ > 0) need(first_, (rows_ + 1) * (has_long_offsets(layout.type) ? 8 : 4));
  second_ = bytes_of(batch, buffer + 2);
}

void StoredValues::damaged(std::string_view what) const {
  file_.damaged(fmt::format("column '{}' of the batch at byte {} {}", field_.name, batch_at_, what));
}

void StoredValues::need(const columns::Bytes& bytes, std::uint64_t size) const {
  if (size > bytes.view.size()) damaged(fmt::format("has {} bytes for {} rows", bytes.view.size(), rows_));
}

// What is packed stands behind its unpacked size; -1 there: it is not packed.
columns::Bytes StoredValues::bytes_of(const Batch& batch, std::size_t buffer) const {
  if (buffer >= batch.buffers.size()) damaged("has too few buffers");
  const std::string_view bytes = batch.buffers[buffer];
  if (batch.codec == columns::Codec::kNone || bytes.empty()) return {nullptr, bytes};
  std::int64_t size = 0;
  if (bytes.size() < sizeof size) damaged("is packed without its size");
  std::memcpy(&size, bytes.data(), sizeof size);
  const std::string_view packed = bytes.substr(sizeof size);
  if (size == -1) return {nullptr, packed};
  std::optional<columns::Bytes> out = columns::unpacked(batch.codec, packed, static_cast<std::uint64_t>(size));
  if (!out) damaged("cannot be unpacked");
  return *std::move(out);
}

void StoredValues::read(std::uint64_t at, std::size_t rows, columns::Column& into) const {
  into.begin(kind_, rows);
  if (kind_ == columns::Kind::kAbsent) return;
  if (!known_.view.empty())
    for (std::size_t i = 0; i < rows; ++i) into.known[i] = bit_at(known_.view, at + i);
  switch (kind_) {
    case columns::Kind::kText: return read_texts(at, into);
    case columns::Kind::kReal:
      return layout_.value_bytes == 4 ? copy_numbers<float>(first_.view, at, into.reals)
                                      : copy_numbers<double>(first_.view, at, into.reals);
    default: break;
  }
  read_integers(at, into.integers);
  if (!known_.view.empty())
    for (std::size_t i = 0; i < rows; ++i)
      if (into.known[i] == 0) into.integers[i] = 0;
}

void StoredValues::read_integers(std::uint64_t at, std::vector<std::int64_t>& into) const {
  if (layout_.type == Type::kBool) {
    for (std::size_t i = 0; i < into.size(); ++i) into[i] = bit_at(first_.view, at + i);
    return;
  }
  switch (layout_.value_bytes) {
    case 1: return layout_.is_signed ? copy_numbers<std::int8_t>(first_.view, at, into) : copy_numbers<std::uint8_t>(first_.view, at, into);
    case 2:
      return layout_.is_signed ? copy_numbers<std::int16_t>(first_.view, at, into) : copy_numbers<std::uint16_t>(first_.view, at, into);
    case 4:
      return layout_.is_signed ? copy_numbers<std::int32_t>(first_.view, at, into) : copy_numbers<std::uint32_t>(first_.view, at, into);
    default: return copy_numbers<std::int64_t>(first_.view, at, into);
  }
}

void StoredValues::read_texts(std::uint64_t at, columns::Column& into) const {
  if (layout_.type == Type::kFixedBinary) {
    for (std::size_t i = 0; i < into.texts.size(); ++i)
      if (into.known[i] != 0) into.texts[i] = first_.view.substr((at + i) * layout_.value_bytes, layout_.value_bytes);
    return into.keep(first_.memory);
  }
  into.keep(second_.memory);
  if (has_long_offsets(layout_.type)) return read_offset_texts<std::uint64_t>(at, into);
  read_offset_texts<std::uint32_t>(at, into);
}

template <class Offset>
void StoredValues::read_offset_texts(std::uint64_t at, columns::Column& into) const {
  for (std::size_t i = 0; i < into.texts.size(); ++i) {
    if (into.known[i] == 0) continue;
    const std::uint64_t begin = number_at<Offset>(first_.view, at + i), end = number_at<Offset>(first_.view, at + i + 1);
    if (begin > end || end > second_.view.size()) damaged(fmt::format("has a text outside of its texts, in row {}", at + i));
    into.texts[i] = second_.view.substr(begin, end - begin);
  }
}

}  // namespace nl::parsers::arrow
