#include "parsers/parquet/chunk_reader.h"

#include <algorithm>
#include <cstring>

#include <fmt/core.h>

namespace nl::parsers::parquet {
namespace {

// Values stand without gaps; each goes to its row, from the last on.
template <class Value>
void spread(const std::uint8_t* known, std::size_t rows, std::size_t values, Value* out) {
  for (std::size_t row = rows; row > values; --row) out[row - 1] = known[row - 1] != 0 ? out[--values] : Value();
}

}  // namespace

ChunkReader::ChunkReader(const columns::MappedFile& file, const ColumnSchema& column, const Chunk& chunk, std::size_t group)
    : file_(file), column_(column), group_(group), codec_(codec_of(file, chunk.codec)) {
  if (chunk.is_elsewhere) file.refused(fmt::format("{} is encrypted, or in another file", place()));
  if (chunk.type != column.type) damaged("has values of another type than the table says");
  if (column.is_nested || kind_of(column.type) == columns::Kind::kAbsent)
    file.refused(fmt::format("column '{}' is a list, a part of a struct or a time of 96 bits", column.name));
  rest_ = file.part(chunk.begin, chunk.bytes, place());
}

std::string ChunkReader::place() const { return fmt::format("column '{}' of row group {}", column_.name, group_); }

void ChunkReader::damaged(std::string_view what) const {
  if (page_ == nullptr) file_.damaged(fmt::format("{} {}", place(), what));
  file_.damaged(fmt::format("{}, page at byte {}: it {}", place(), page_ - file_.bytes().data(), what));
}

columns::Bytes ChunkReader::unpacked(std::string_view packed, std::int32_t size) const {
  std::optional<columns::Bytes> bytes = columns::unpacked(codec_, packed, static_cast<std::uint64_t>(size));
  if (!bytes) damaged("cannot be unpacked");
  return *std::move(bytes);
}

void ChunkReader::next_page() {
  if (rest_.empty()) damaged("has fewer values than the table has rows");
  page_ = rest_.data();
  const PageHeader header = read_page_header(file_, rest_, fmt::format("the head of the page at byte {}", page_ - file_.bytes().data()));
  rest_.remove_prefix(header.header_bytes);
  if (static_cast<std::uint32_t>(header.bytes) > rest_.size()) damaged("ends behind its column");
  const std::string_view body = rest_.substr(0, static_cast<std::size_t>(header.bytes));
  rest_.remove_prefix(body.size());
  switch (header.kind) {
    case PageHeader::kDictionary: return begin_dictionary(header, body);
    case PageHeader::kData: return begin_data(header, body);
    case PageHeader::kData2: return begin_data_2(header, body);
    default: return;
  }
}

void ChunkReader::begin_dictionary(const PageHeader& header, std::string_view body) {
  if (dictionary_) damaged("is a second dictionary");
  if (!read_dictionary(column_, unpacked(body, header.unpacked_bytes), static_cast<std::size_t>(header.values), dictionary_.emplace()))
    damaged("is no dictionary of so many values");
}

// The length of the levels, the levels, the values, packed together. Where no value can be NULL there are no levels.
void ChunkReader::begin_data(const PageHeader& header, std::string_view body) {
  bytes_ = unpacked(body, header.unpacked_bytes);
  std::string_view bytes = bytes_.view;
  if (column_.is_optional) {
    std::uint32_t size = 0;
    if (header.level_encoding != static_cast<std::int32_t>(Encoding::kRle)) file_.refused("it says in a way of old which values are NULL");
    if (bytes.size() >= sizeof size) std::memcpy(&size, bytes.data(), sizeof size);
    if (bytes.size() < sizeof size || size > bytes.size() - sizeof size) damaged("ends before its values");
    levels_ = BitRuns(bytes.substr(sizeof size, size), 1);
    bytes.remove_prefix(sizeof size + size);
  }
  begin_values(header, bytes);
}

void ChunkReader::begin_data_2(const PageHeader& header, std::string_view body) {
  const std::int64_t levels = std::int64_t{header.repetition_bytes} + header.definition_bytes;
  if (header.repetition_bytes < 0 || header.definition_bytes < 0 || levels > header.bytes || levels > header.unpacked_bytes)
    damaged("ends before its values");
  levels_ = BitRuns(body.substr(static_cast<std::size_t>(header.repetition_bytes), static_cast<std::size_t>(header.definition_bytes)), 1);
  const std::string_view values = body.substr(static_cast<std::size_t>(levels));
  const auto size = static_cast<std::int32_t>(header.unpacked_bytes - levels);
  bytes_ = header.is_packed && !values.empty() ? unpacked(values, size) : columns::Bytes{nullptr, values};
  begin_values(header, bytes_.view);
}

void ChunkReader::begin_values(const PageHeader& header, std::string_view bytes) {
  left_ = static_cast<std::size_t>(header.values);
  const bool known = header.encoding >= 0 && header.encoding <= static_cast<std::int32_t>(Encoding::kByteStreams);
  values_ =
      known ? value_reader(column_, static_cast<Encoding>(header.encoding), bytes, left_, dictionary_ ? &*dictionary_ : nullptr) : nullptr;
  if (values_ == nullptr) damaged(fmt::format("has values in a way that is not read (encoding {})", header.encoding));
}

void ChunkReader::read(std::size_t rows, columns::Column& into) {
  into.begin(kind_of(column_.type), rows);
  for (std::size_t done = 0; done < rows;) {
    if (left_ == 0) {
      next_page();
      continue;
    }
    const std::size_t some = std::min(rows - done, left_);
    read_page(some, done, into);
    done += some;
    left_ -= some;
  }
}

void ChunkReader::read_page(std::size_t rows, std::size_t at, columns::Column& into) {
  std::size_t values = rows;
  if (column_.is_optional) {
    std::uint8_t* known = into.known.data() + at;
    if (!levels_.read(known, rows)) damaged("does not say of every row whether it is NULL");
    values = static_cast<std::size_t>(std::count(known, known + rows, 1));
  }
  read_values(values, at, into);
  const std::uint8_t* known = into.known.data() + at;
  switch (into.kind) {
    case columns::Kind::kInteger: return spread(known, rows, values, into.integers.data() + at);
    case columns::Kind::kReal: return spread(known, rows, values, into.reals.data() + at);
    case columns::Kind::kText: return spread(known, rows, values, into.texts.data() + at);
    case columns::Kind::kAbsent: return;
  }
}

void ChunkReader::read_values(std::size_t count, std::size_t at, columns::Column& into) {
  bool sound = true;
  switch (into.kind) {
    case columns::Kind::kInteger: sound = values_->integers(into.integers.data() + at, count); break;
    case columns::Kind::kReal: sound = values_->reals(into.reals.data() + at, count); break;
    case columns::Kind::kText:
      sound = values_->texts(into.texts.data() + at, count);
      into.keep(bytes_.memory);
      into.keep(values_->made_memory());
      if (dictionary_) into.keep(dictionary_->memory);
      break;
    case columns::Kind::kAbsent: break;
  }
  if (!sound) damaged("does not have the values that it should have");
}

}  // namespace nl::parsers::parquet
