#pragma once

#include <charconv>
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "exporters/detail/detail_json.h"

namespace nl::exporters {

// JSON without spaces, mostly lists of whole numbers: {"start":[1,2,3]}. Given away piece by piece, so that a long text is
// never held whole.
class ColumnWriter {
 public:
  explicit ColumnWriter(PieceSink sink) : sink_(std::move(sink)) {}

  void open(std::string_view key, char bracket) {
    name(key);
    open(bracket);
  }
  void open(char bracket) {
    separate();
    out_ += bracket;
    first_ = true;
  }
  void close(char bracket) {
    out_ += bracket;
    first_ = false;
  }
  template <std::integral Number>
  void number(Number value) {
    separate();
    char digits[24];
    const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
    out_.append(digits, end);
  }
  void null() {
    separate();
    out_ += "null";
  }
  void flag(std::string_view key, bool value) {
    name(key);
    separate();
    out_ += value ? "true" : "false";
  }
  void text(std::string_view value);
  template <std::integral Number>
  void number(std::string_view key, Number value) {
    name(key);
    number(value);
  }
  void text(std::string_view key, std::string_view value) {
    name(key);
    text(value);
  }
  // value(row) is a whole number
  template <class Rows, class Value>
  void column(std::string_view key, const Rows& rows, Value value) {
    open(key, '[');
    for (const auto& row : rows) number(value(row));
    close(']');
  }
  void finish() {
    sink_(out_);
    out_.clear();
  }

 private:
  void name(std::string_view key) {
    text(key);
    out_ += ':';
    first_ = true;
  }
  void separate() {
    if (!first_) out_ += ',';
    first_ = false;
    if (out_.size() >= kPieceBytes) finish();
  }

  static constexpr std::size_t kPieceBytes = 1 << 16;
  PieceSink sink_;
  std::string out_;
  bool first_ = true;
};

}  // namespace nl::exporters
