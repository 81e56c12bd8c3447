#include "parsers/sqlite_pages/text.h"

#include <cstdint>

namespace nl::parsers::sqlite_pages {
namespace {

void append(std::uint32_t character, std::string& out) {
  const auto put = [&](std::uint32_t lead, int following) {
    out += static_cast<char>(lead | character >> 6 * following);
    for (int i = following - 1; i >= 0; --i) out += static_cast<char>(0x80 | (character >> 6 * i & 0x3F));
  };
  if (character < 0x80) put(0, 0);
  else if (character < 0x800) put(0xC0, 1);
  else if (character < 0x10000) put(0xE0, 2);
  else put(0xF0, 3);
}

}  // namespace

std::string_view utf8_of(std::string_view stored, TextEncoding encoding, std::string& kept) {
  if (encoding == TextEncoding::kUtf8) return stored;
  const auto unit = [&](std::size_t at) -> std::uint32_t {
    const auto first = static_cast<unsigned char>(stored[at]), second = static_cast<unsigned char>(stored[at + 1]);
    return encoding == TextEncoding::kUtf16Little ? first | second << 8 : first << 8 | second;
  };
  kept.clear();
  for (std::size_t at = 0; at + 1 < stored.size(); at += 2) {
    std::uint32_t character = unit(at);
    // Like SQLite, which takes any half for the first one and whatever follows for the second.
    if (character >= 0xD800 && character < 0xE000 && at + 3 < stored.size()) {
      at += 2;
      character = (unit(at) & 0x3FF) + ((character & 0x3F) << 10) + (((character & 0x3C0) + 0x40) << 10);
    }
    append(character, kept);
  }
  return kept;
}

}  // namespace nl::parsers::sqlite_pages
