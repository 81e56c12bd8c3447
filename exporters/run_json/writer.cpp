#include "exporters/run_json/writer.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

namespace nl::exporters {
namespace {

bool plain(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= 0x20 && c < 0x7F && c != '"' && c != '\\'; });
}

}  // namespace

void JsonWriter::put(double value) {
  if (!std::isfinite(value)) {
    out_ += "null";
    return;
  }
  char text[32];
  const char* end = std::to_chars(text, text + sizeof text, value).ptr;  // the shortest that reads back as the same
  const std::string_view digits(text, static_cast<std::size_t>(end - text));
  out_ += digits;
  if (digits.find_first_of(".e") == std::string_view::npos) out_ += ".0";
}

void JsonWriter::put(std::string_view text) {
  if (plain(text)) {
    out_ += '"';
    out_ += text;
    out_ += '"';
    return;
  }
  out_ += nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

template <class Numbers>
void JsonWriter::line(const Numbers& numbers) {
  out_ += '[';
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (i > 0) out_ += ", ";
    put(numbers[i]);
  }
  out_ += ']';
}

void JsonWriter::put(const std::vector<double>& numbers) { line(numbers); }
void JsonWriter::put(const std::vector<std::optional<double>>& numbers) { line(numbers); }

void JsonWriter::name(std::string_view key) {
  next();
  put(key);
  out_ += ": ";
}

void JsonWriter::next() {
  out_ += empty_ ? "\n" : ",\n";
  out_.append(static_cast<std::size_t>(depth_) * 2, ' ');
  empty_ = false;
}

void JsonWriter::open(char bracket) {
  out_ += bracket;
  ++depth_;
  empty_ = true;
}

void JsonWriter::close(char bracket) {
  --depth_;
  if (!empty_) {
    out_ += '\n';
    out_.append(static_cast<std::size_t>(depth_) * 2, ' ');
  }
  out_ += bracket;
  empty_ = false;
}

}  // namespace nl::exporters
