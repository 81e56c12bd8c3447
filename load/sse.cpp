#include "load/sse.h"

#include <utility>

namespace nl::load {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

}  // namespace

// : OPENROUTER PROCESSING
// data: {"choices": [{"index": 0, "text": "Hello"}]}
//
// data: [DONE]
//
std::vector<std::string> SseParser::take(std::string_view bytes) {
  std::vector<std::string> events;
  for (const char c : bytes) {
    const bool second_of_crlf = after_cr_ && c == '\n';
    after_cr_ = c == '\r';
    if (second_of_crlf) continue;
    if (c == '\r' || c == '\n') end_line(events);
    else line_ += c;
  }
  return events;
}

std::string SseParser::rest() {
  std::vector<std::string> events;
  if (!line_.empty()) end_line(events);
  has_data_ = false;
  return std::exchange(data_, {});
}

void SseParser::end_line(std::vector<std::string>& events) {
  std::string_view line = line_;
  if (std::exchange(at_start_, false) && line.starts_with(kByteOrderMark)) line.remove_prefix(kByteOrderMark.size());
  if (line.empty()) {
    if (has_data_) events.push_back(std::move(data_));
    data_.clear();
    has_data_ = false;
  } else {
    const std::size_t colon = line.find(':');
    std::string_view value = colon == std::string_view::npos ? std::string_view() : line.substr(colon + 1);
    if (value.starts_with(' ')) value.remove_prefix(1);
    if (line.substr(0, colon) == "data") {
      if (has_data_) data_ += '\n';
      data_ += value;
      has_data_ = true;
    }
  }
  line_.clear();
}

}  // namespace nl::load
