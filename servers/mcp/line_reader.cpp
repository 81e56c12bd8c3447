#include "servers/mcp/line_reader.h"

#include <string_view>

namespace nl::servers::mcp {

std::vector<LineReader::Line> LineReader::take(const char* data, std::size_t size) {
  std::vector<Line> lines;
  std::string_view rest(data, size);
  while (!rest.empty()) {
    const std::size_t end = rest.find('\n');
    const std::string_view part = rest.substr(0, end);
    if (!too_long_ && begun_.size() + part.size() > most_bytes_) {
      too_long_ = true;
      std::string().swap(begun_);  // gives the memory back
    }
    if (!too_long_) begun_ += part;
    if (end == std::string_view::npos) break;
    if (!begun_.empty() && begun_.back() == '\r') begun_.pop_back();
    lines.push_back({std::move(begun_), too_long_});
    begun_.clear();
    too_long_ = false;
    rest.remove_prefix(end + 1);
  }
  return lines;
}

}  // namespace nl::servers::mcp
