#include "parsers/arrow/flat_reader.h"

#include <fmt/core.h>

namespace nl::parsers::arrow {

void FlatBuffer::damaged() const { file_->damaged(fmt::format("{} refers to what lies outside of it", what_)); }

std::string_view FlatBuffer::bytes(std::size_t at, std::uint64_t size) const {
  if (at > bytes_.size() || size > bytes_.size() - at) damaged();
  return bytes_.substr(at, size);
}

// A table begins with how far before it the list of its fields stands.
FlatTable::FlatTable(const FlatBuffer& buffer, std::size_t at) : buffer_(buffer), at_(at) {
  const std::int64_t fields = static_cast<std::int64_t>(at) - buffer_.number<std::int32_t>(at);
  if (fields < 0) buffer_.damaged();
  fields_ = static_cast<std::size_t>(fields);
  fields_bytes_ = buffer_.number<std::uint16_t>(fields_);
}

FlatTable FlatTable::root(const FlatBuffer& buffer) { return {buffer, buffer.number<std::uint32_t>(0)}; }

std::size_t FlatTable::place(std::size_t field) const {
  constexpr std::size_t kHead = 2 * sizeof(std::uint16_t);  // sizes of the list and of the table
  const std::size_t at = kHead + field * sizeof(std::uint16_t);
  if (at + sizeof(std::uint16_t) > fields_bytes_) return 0;
  const std::uint16_t offset = buffer_.number<std::uint16_t>(fields_ + at);
  return offset != 0 ? at_ + offset : 0;
}

std::size_t FlatTable::follow(std::size_t at) const { return at + buffer_.number<std::uint32_t>(at); }

std::size_t FlatTable::vector(std::size_t field) const {
  const std::size_t at = place(field);
  return at != 0 ? follow(at) : 0;
}

std::string_view FlatTable::text(std::size_t field) const {
  const std::size_t at = vector(field);
  return at != 0 ? buffer_.bytes(at + sizeof(std::uint32_t), buffer_.number<std::uint32_t>(at)) : std::string_view();
}

std::optional<FlatTable> FlatTable::part(std::size_t field) const {
  const std::size_t at = place(field);
  if (at == 0) return std::nullopt;
  return FlatTable(buffer_, follow(at));
}

std::size_t FlatTable::count(std::size_t field) const {
  const std::size_t at = vector(field);
  return at != 0 ? buffer_.number<std::uint32_t>(at) : 0;
}

std::size_t FlatTable::place_of(std::size_t field, std::size_t number, std::size_t bytes) const {
  const std::size_t at = vector(field);
  if (at == 0 || number >= buffer_.number<std::uint32_t>(at)) buffer_.damaged();
  return at + sizeof(std::uint32_t) + number * bytes;
}

FlatTable FlatTable::part_of(std::size_t field, std::size_t number) const {
  return {buffer_, follow(place_of(field, number, sizeof(std::uint32_t)))};
}

}  // namespace nl::parsers::arrow
