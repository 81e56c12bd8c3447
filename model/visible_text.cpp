#include "model/visible_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace nl {
namespace {

struct Character {
  char32_t code = 0;
  std::size_t bytes = 1;
  bool valid = false;
};

std::size_t length_by(unsigned char first) {
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first < 0xe0) return 2;
  if (first >= 0xe0 && first < 0xf0) return 3;
  return first >= 0xf0 && first < 0xf5 ? 4 : 0;
}

// The one at the front of `text`, which is not empty.
Character first_of(std::string_view text) {
  static constexpr std::array<char32_t, 5> kSmallest = {0, 0, 0x80, 0x800, 0x10000};  // shorter ones are spelled too long
  const std::size_t bytes = length_by(static_cast<unsigned char>(text[0]));
  if (bytes == 0 || bytes > text.size()) return {};
  char32_t code = static_cast<unsigned char>(text[0]) & (bytes == 1 ? 0x7f : 0xff >> (bytes + 1));
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((static_cast<unsigned char>(text[i]) & 0xc0) != 0x80) return {};
    code = code << 6 | (static_cast<unsigned char>(text[i]) & 0x3f);
  }
  const bool surrogate = code >= 0xd800 && code < 0xe000;
  return surrogate || code > 0x10ffff || code < kSmallest[bytes] ? Character{} : Character{code, bytes, true};
}

struct CodeRange {
  char32_t first, last;
};

template <std::size_t N>
bool in_any(char32_t code, const std::array<CodeRange, N>& ranges) {
  return std::any_of(ranges.begin(), ranges.end(), [&](const CodeRange& range) { return code >= range.first && code <= range.last; });
}

// C0, DEL and C1; then what turns the direction of a line, and its separators.
constexpr std::array<CodeRange, 6> kControls = {
    {{0, 0x1f}, {0x7f, 0x9f}, {0x200e, 0x200f}, {0x2028, 0x2029}, {0x202a, 0x202e}, {0x2066, 0x2069}}};
constexpr std::array<CodeRange, 5> kNoPlace = {{{0x300, 0x36f}, {0x200b, 0x200d}, {0x20d0, 0x20ff}, {0xfe00, 0xfe0f}, {0xfeff, 0xfeff}}};
constexpr std::array<CodeRange, 9> kTwoPlaces = {{{0x1100, 0x115f},
                                                  {0x2e80, 0xa4cf},
                                                  {0xac00, 0xd7a3},
                                                  {0xf900, 0xfaff},
                                                  {0xfe30, 0xfe6f},
                                                  {0xff00, 0xff60},
                                                  {0xffe0, 0xffe6},
                                                  {0x1f300, 0x1faff},
                                                  {0x20000, 0x3fffd}}};

std::size_t places_of(const Character& character) {
  if (!character.valid) return 1;
  if (in_any(character.code, kNoPlace)) return 0;
  return in_any(character.code, kTwoPlaces) ? 2 : 1;
}

std::string escaped(std::string_view text, bool one_line) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const Character next = first_of(text);
    const bool breaks = next.valid && (next.code == '\n' || next.code == '\t');
    if (!next.valid) out += "\xef\xbf\xbd";
    else if (breaks) out += one_line ? ' ' : text[0];
    else if (in_any(next.code, kControls)) out += fmt::format("\\u{:04x}", static_cast<unsigned>(next.code));
    else out += text.substr(0, next.bytes);
    text.remove_prefix(next.bytes);
  }
  return out;
}

}  // namespace

std::string visible(std::string_view text) { return escaped(text, false); }
std::string visible_line(std::string_view text) { return escaped(text, true); }

std::size_t columns_of(std::string_view text) {
  std::size_t columns = 0;
  for (; !text.empty(); text.remove_prefix(first_of(text).bytes)) columns += places_of(first_of(text));
  return columns;
}

std::string cut_to(std::string_view text, std::size_t columns) {
  if (columns_of(text) <= columns) return std::string(text);
  std::size_t taken = 0, end = 0;
  while (end < text.size()) {
    const Character next = first_of(text.substr(end));
    if (taken + places_of(next) + 1 > columns) break;
    taken += places_of(next);
    end += next.bytes;
  }
  return columns == 0 ? std::string() : std::string(text.substr(0, end)) + "…";
}

}  // namespace nl
