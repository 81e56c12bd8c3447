#include "exporters/report/html/html_text.h"

namespace nl::exporters::html {
namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd";

// How many bytes the character at `at` has; 0 where it is no valid UTF-8 (overlong forms and surrogates among them).
std::size_t character_bytes(std::string_view raw, std::size_t at) {
  const auto byte = [&](std::size_t i) { return at + i < raw.size() ? static_cast<unsigned char>(raw[at + i]) : 0u; };
  const auto follows = [&](std::size_t i) { return (byte(i) & 0xC0u) == 0x80u; };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return follows(1) ? 2 : 0;
  if (first >= 0xE0 && first <= 0xEF) {
    const bool overlong = first == 0xE0 && byte(1) < 0xA0, surrogate = first == 0xED && byte(1) > 0x9F;
    return follows(1) && follows(2) && !overlong && !surrogate ? 3 : 0;
  }
  if (first >= 0xF0 && first <= 0xF4) {
    const bool overlong = first == 0xF0 && byte(1) < 0x90, beyond = first == 0xF4 && byte(1) > 0x8F;
    return follows(1) && follows(2) && follows(3) && !overlong && !beyond ? 4 : 0;
  }
  return 0;
}

void add_ascii(char c, std::string& out) {
  switch (c) {
    case '&': out += "&amp;"; return;
    case '<': out += "&lt;"; return;
    case '>': out += "&gt;"; return;
    case '"': out += "&quot;"; return;
    case '\'': out += "&#39;"; return;
    default: out += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? ' ' : c;
  }
}

}  // namespace

std::string text(std::string_view raw) {
  std::string out;
  out.reserve(raw.size() + raw.size() / 8);
  for (std::size_t i = 0; i < raw.size();) {
    const std::size_t bytes = character_bytes(raw, i);
    if (bytes == 1)
      add_ascii(raw[i], out);
    else if (bytes == 0)
      out += kReplacement;
    else
      out += raw.substr(i, bytes);
    i += bytes == 0 ? 1 : bytes;
  }
  return out;
}

std::string attribute(std::string_view name, std::string_view value) {
  std::string out = " ";
  return out.append(name).append("=\"").append(text(value)).append("\"");
}

}  // namespace nl::exporters::html
