#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace nl::servers::mcp {

// The lines of a stream, as they come. Of a line that is longer than the bound nothing is kept.
class LineReader {
 public:
  explicit LineReader(std::size_t most_bytes) : most_bytes_(most_bytes) {}

  struct Line {
    std::string text;
    bool too_long = false;  // the text is empty then
  };

  std::vector<Line> take(const char* data, std::size_t size);  // the lines that end in these bytes

 private:
  std::size_t most_bytes_;
  std::string begun_;
  bool too_long_ = false;
};

}  // namespace nl::servers::mcp
