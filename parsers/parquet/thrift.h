#pragma once

#include <cstdint>
#include <string_view>

#include "parsers/columns/mapped_file.h"

namespace nl::parsers::parquet {

// Thrift's compact protocol, as far as Parquet's footers and page headers use it. What is damaged throws Error(kInput).
class ThriftReader {
 public:
  enum Kind : std::uint8_t { kTrue = 1, kFalse, kByte, kI16, kI32, kI64, kDouble, kBinary, kList, kSet, kMap, kStruct, kUuid };

  // `what` the bytes are, for errors.
  ThriftReader(const columns::MappedFile& file, std::string_view bytes, std::string_view what)
      : file_(file), rest_(bytes), what_(what), size_(bytes.size()) {}

  // Calls use(number, kind) for each field of a struct; one that returns false did not read the field, which is passed over.
  template <class Use>
  void fields(Use use) {
    std::int64_t number = 0;
    for (;;) {
      const std::uint8_t head = byte();
      if (head == 0) return;
      const std::uint8_t distance = head >> 4;
      number = distance != 0 ? number + distance : zigzag();
      const Kind kind = kind_of(head);
      if (!use(number, kind)) pass_over(kind, 0);
    }
  }

  // Calls use() for each struct of a list.
  template <class Use>
  bool structs(Kind kind, Use use) {
    for (std::uint64_t count = begin_list(kind, kStruct); count > 0; --count) use();
    return true;
  }

  // They return true, as what reads a field does.
  template <class Number>
  bool number(Kind kind, Number& value) {
    value = static_cast<Number>(number(kind));
    return true;
  }
  bool truth(Kind kind, bool& value);
  bool text(Kind kind, std::string_view& value);

  std::size_t used() const { return size_ - rest_.size(); }
  [[noreturn]] void damaged() const;

 private:
  static constexpr int kDeepest = 24;

  Kind kind_of(std::uint8_t head) const;
  std::uint8_t byte();
  std::uint64_t varint();
  std::int64_t zigzag();
  std::int64_t number(Kind kind);
  std::string_view bytes(std::uint64_t count);
  std::uint64_t begin_list(Kind kind, Kind of);
  void pass_over(Kind kind, int depth);
  void pass_over_elements(std::uint64_t count, Kind of, int depth);

  const columns::MappedFile& file_;
  std::string_view rest_, what_;
  std::size_t size_;
};

}  // namespace nl::parsers::parquet
