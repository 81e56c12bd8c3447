#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace nl::exporters::fact_tables {

// A struct in Thrift's compact protocol, as far as Parquet needs it. Fields are added by rising numbers.
class ThriftStruct {
 public:
  ThriftStruct& i32(int field, std::int32_t value) { return whole_number(field, kI32, value); }
  ThriftStruct& i64(int field, std::int64_t value) { return whole_number(field, kI64, value); }
  ThriftStruct& boolean(int field, bool value) { return begin(field, value ? kTrue : kFalse); }
  ThriftStruct& text(int field, std::string_view value) {
    begin(field, kBinary);
    add_text(value);
    return *this;
  }
  ThriftStruct& part(int field, const ThriftStruct& value) {
    begin(field, kStruct);
    bytes_ += value.bytes();
    return *this;
  }
  ThriftStruct& parts(int field, const std::vector<ThriftStruct>& values) {
    begin_list(field, kStruct, values.size());
    for (const ThriftStruct& value : values) bytes_ += value.bytes();
    return *this;
  }
  ThriftStruct& i32s(int field, const std::vector<std::int32_t>& values) {
    begin_list(field, kI32, values.size());
    for (const std::int32_t value : values) add_varint(zigzag(value));
    return *this;
  }
  ThriftStruct& texts(int field, const std::vector<std::string>& values) {
    begin_list(field, kBinary, values.size());
    for (const std::string& value : values) add_text(value);
    return *this;
  }
  std::string bytes() const { return bytes_ + '\0'; }

 private:
  enum Kind : std::uint8_t { kTrue = 1, kFalse = 2, kI32 = 5, kI64 = 6, kBinary = 8, kList = 9, kStruct = 12 };

  static std::uint64_t zigzag(std::int64_t value) {
    return (static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63);
  }
  void add_varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>(value | 0x80);
    bytes_ += static_cast<char>(value);
  }
  void add_text(std::string_view value) {
    add_varint(value.size());
    bytes_ += value;
  }
  // One byte has how far the number is from the last, and the kind.
  ThriftStruct& begin(int field, Kind kind) {
    bytes_ += static_cast<char>((field - last_) << 4 | kind);
    last_ = field;
    return *this;
  }
  ThriftStruct& whole_number(int field, Kind kind, std::int64_t value) {
    begin(field, kind);
    add_varint(zigzag(value));
    return *this;
  }
  void begin_list(int field, Kind kind, std::size_t count) {
    constexpr std::size_t kLong = 15;
    begin(field, kList);
    bytes_ += static_cast<char>((count < kLong ? count : kLong) << 4 | kind);
    if (count >= kLong) add_varint(count);
  }

  int last_ = 0;
  std::string bytes_;
};

}  // namespace nl::exporters::fact_tables
