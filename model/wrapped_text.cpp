#include "model/wrapped_text.h"

#include <algorithm>

#include "model/visible_text.h"

namespace nl {

std::string wrapped(std::string_view text, std::size_t width, std::size_t begin, std::size_t indent) {
  if (width == 0) return std::string(text);
  std::string out;
  std::size_t place = begin;
  while (!text.empty()) {
    const std::size_t blanks = std::min(text.find_first_not_of(' '), text.size());
    const std::size_t end = std::min(text.find(' ', blanks), text.size());
    const std::string_view word = text.substr(blanks, end - blanks);
    const std::size_t needed = blanks + columns_of(word);
    const bool breaks = place + needed > width && (blanks > 0 || place > indent);
    if (breaks) out += "\n" + std::string(indent, ' ');
    out += breaks ? word : text.substr(0, end);
    place = breaks ? indent + columns_of(word) : place + needed;
    text.remove_prefix(end);
  }
  return out;
}

}  // namespace nl
