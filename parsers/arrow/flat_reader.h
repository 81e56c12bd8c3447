#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

#include "parsers/columns/mapped_file.h"

namespace nl::parsers::arrow {

// The bytes of a FlatBuffer, as far as Arrow's messages use it. What is damaged throws Error(kInput).
class FlatBuffer {
 public:
  // `what` the bytes are, for errors.
  FlatBuffer(const columns::MappedFile& file, std::string_view bytes, std::string_view what) : file_(&file), bytes_(bytes), what_(what) {}

  template <class Number>
  Number number(std::size_t at) const {
    if (at > bytes_.size() || sizeof(Number) > bytes_.size() - at) damaged();
    Number value;
    std::memcpy(&value, bytes_.data() + at, sizeof value);
    return value;
  }
  std::string_view bytes(std::size_t at, std::uint64_t size) const;
  [[noreturn]] void damaged() const;

 private:
  const columns::MappedFile* file_;
  std::string_view bytes_, what_;
};

// A table in it; fields are by the number that the schema of the format gives them, and may be left out.
class FlatTable {
 public:
  static FlatTable root(const FlatBuffer& buffer);

  template <class Number>
  Number number(std::size_t field, Number otherwise) const {
    const std::size_t at = place(field);
    return at != 0 ? buffer_.number<Number>(at) : otherwise;
  }
  std::string_view text(std::size_t field) const;
  std::optional<FlatTable> part(std::size_t field) const;
  std::size_t count(std::size_t field) const;                      // of a vector
  FlatTable part_of(std::size_t field, std::size_t number) const;  // of a vector of tables
  // Number `number` of a vector of structs of so many bytes, or of numbers.
  std::size_t place_of(std::size_t field, std::size_t number, std::size_t bytes) const;
  const FlatBuffer& buffer() const { return buffer_; }

 private:
  FlatTable(const FlatBuffer& buffer, std::size_t at);
  std::size_t place(std::size_t field) const;  // 0: it is left out
  std::size_t follow(std::size_t at) const;    // an offset from where it stands
  std::size_t vector(std::size_t field) const;

  FlatBuffer buffer_;
  std::size_t at_ = 0, fields_ = 0;  // where it and the list of its fields are
  std::uint16_t fields_bytes_ = 0;
};

}  // namespace nl::parsers::arrow
