#include "parsers/json/array_file.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>

#include "model/error_code.h"
#include "parsers/input_files.h"

namespace nl::parsers {
namespace {

constexpr std::size_t kFirstBuffer = std::size_t{1} << 18;
constexpr std::size_t kLargestElement = std::size_t{1} << 28;  // a larger one is not an event but a damaged file
constexpr std::size_t kLargestHead = std::size_t{1} << 26;
constexpr std::size_t kNone64 = std::string_view::npos;

constexpr std::array<bool, 256> table_of(std::string_view characters) {
  std::array<bool, 256> table{};
  for (const char c : characters) table[static_cast<unsigned char>(c)] = true;
  return table;
}

constexpr auto kStructural = table_of("\"{}[]");
constexpr auto kBlank = table_of(" \t\r\n");
constexpr auto kScalarEnd = table_of(",}] \t\r\n");

// Behind the closing quote, or npos.
std::size_t string_end(const char* text, std::size_t at, std::size_t size) {
  for (++at; at < size; ++at) {
    if (text[at] == '\\') ++at;
    else if (text[at] == '"') return at + 1;
  }
  return kNone64;
}

}  // namespace

JsonArrayFile::JsonArrayFile(const std::filesystem::path& file, std::string member)
    : JsonArrayFile([source = std::make_shared<ByteSource>(file)](char* to, std::size_t size) { return source->read(to, size); },
                    file.string(), std::move(member)) {}

JsonArrayFile::JsonArrayFile(Bytes bytes, std::string where, std::string member)
    : bytes_(std::move(bytes)), where_(std::move(where)), member_(std::move(member)), buffer_(kFirstBuffer + kPadding) {
  find_array();
}

bool JsonArrayFile::fill() {
  if (ended_) return false;
  if (at_ > 0 && !head_.empty()) {  // what lies before is not needed again, once the array was found
    std::memmove(buffer_.data(), buffer_.data() + at_, used_ - at_);
    file_offset_ += at_;
    used_ -= at_;
    at_ = 0;
  }
  if (used_ + kPadding == buffer_.size()) {
    if (used_ >= kLargestElement)
      throw CodedError(ErrorCode::kCaptureDamaged, "one event of the trace is larger than 256 MB",
                       fmt::format("{}, byte {}", where_, file_offset_), "the file is damaged: export the trace again");
    buffer_.resize(2 * used_ + kPadding);
  }
  const std::size_t room = buffer_.size() - kPadding - used_;
  const std::size_t got = bytes_(buffer_.data() + used_, room);
  used_ += got;
  std::memset(buffer_.data() + used_, 0, kPadding);
  ended_ = got < room;
  return got > 0;
}

std::size_t JsonArrayFile::skip_blank(std::size_t at) const {
  while (at < used_ && kBlank[static_cast<unsigned char>(buffer_[at])]) ++at;
  return at;
}

std::size_t JsonArrayFile::value_end(std::size_t at) const {
  const char* text = buffer_.data();
  if (text[at] == '"') return string_end(text, at, used_);
  if (text[at] != '{' && text[at] != '[') {
    while (at < used_ && !kScalarEnd[static_cast<unsigned char>(text[at])]) ++at;
    return at < used_ ? at : kNone64;
  }
  std::size_t depth = 0;
  while (at < used_) {
    const char c = text[at];
    if (!kStructural[static_cast<unsigned char>(c)]) {
      ++at;
      continue;
    }
    if (c == '"') {
      at = string_end(text, at, used_);
      if (at == kNone64) return kNone64;
      continue;
    }
    ++at;
    depth += c == '{' || c == '[' ? 1 : -1;
    if (depth == 0) return at;
  }
  return kNone64;
}

// { "schemaVersion": 1, "deviceProperties": [ … ], …, "traceEvents": [    or just    [
void JsonArrayFile::find_array() {
  while (fill()) {
    if (used_ > kLargestHead) break;
    std::size_t at = std::string_view(buffer_.data(), used_).substr(0, 3) == "\xef\xbb\xbf" ? 3 : 0;
    at = skip_blank(at);
    if (at >= used_) continue;
    if (buffer_[at] == '[') {
      head_ = "[";
      at_ = at + 1;
      return;
    }
    if (buffer_[at] != '{' || member_.empty()) break;
    open_member(at + 1);
    if (!head_.empty()) return;
  }
  throw CodedError(
      ErrorCode::kUnknownFormat, member_.empty() ? "this is no JSON array of events" : fmt::format("the file has no array \"{}\"", member_),
      fmt::format("{}, {} bytes read", where_, used_),
      used_ == 0 ? "the file is empty: capture again" : "check that it is the profiler's JSON trace and was written to its end");
}

// Walks the members until the array is found; does nothing where the buffer ends before that.
void JsonArrayFile::open_member(std::size_t at) {
  while (true) {
    at = skip_blank(at);
    if (at < used_ && buffer_[at] == ',') at = skip_blank(at + 1);
    if (at >= used_ || buffer_[at] != '"') return;
    const std::size_t key_end = string_end(buffer_.data(), at, used_);
    if (key_end == kNone64) return;
    const std::string_view key(buffer_.data() + at + 1, key_end - at - 2);
    at = skip_blank(key_end);
    if (at >= used_ || buffer_[at] != ':') return;
    at = skip_blank(at + 1);
    if (at >= used_) return;
    if (key == member_ && buffer_[at] == '[') {
      head_.assign(buffer_.data(), at + 1);
      at_ = at + 1;
      return;
    }
    at = value_end(at);
    if (at == kNone64) return;
  }
}

bool JsonArrayFile::next() {
  while (!array_done_) {
    while (at_ < used_ && (kBlank[static_cast<unsigned char>(buffer_[at_])] || buffer_[at_] == ',')) ++at_;
    if (at_ >= used_) {
      if (fill()) continue;
      array_done_ = cut_off_ = true;
      return false;
    }
    if (buffer_[at_] == ']') {
      ++at_;
      array_done_ = true;
      return false;
    }
    const std::size_t end = value_end(at_);
    if (end == kNone64) {
      if (fill()) continue;
      array_done_ = cut_off_ = true;
      return false;
    }
    element_ = at_;
    element_size_ = end - at_;
    at_ = std::max(end, at_ + 1);  // a stray bracket is a value of no length
    if (buffer_[element_] == '{') return true;
    ++passed_over_;
  }
  return false;
}

std::string JsonArrayFile::document_without_array() {
  std::string document = head_ + "]";
  while (at_ < used_ || fill()) {
    document.append(buffer_.data() + at_, used_ - at_);
    at_ = used_;
    if (document.size() > kLargestHead) break;
  }
  return document;
}

}  // namespace nl::parsers
