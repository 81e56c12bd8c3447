#include "model/visible_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

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

// Below it a value rounds to at most 999.
constexpr double kThousand = 999.5;

// In the largest unit of a thousand times each that leaves something before the point.
template <std::size_t Count>
std::string scaled(double value, const char* const (&prefixes)[Count], std::string_view unit) {
  std::size_t at = 0;
  for (; std::abs(value) >= kThousand && at + 1 < Count; ++at) value /= 1000;
  return fmt::format("{} {}{}", three_digits(value), prefixes[at], unit);
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

std::string three_digits(double value) {
  const double size = std::abs(value);
  if (value == 0) return "0";
  if (size < 0.0001 || size >= 1e6) return fmt::format("{:.2e}", value);
  int decimals = 0;
  for (double bound = 99.95; size < bound; bound /= 10) ++decimals;  // 99.95 is where one decimal rounds to 100
  return fmt::format("{:.{}f}", value, decimals);
}

std::string with_prefix(double value, std::string_view unit) { return scaled(value, {"", "k", "M", "G", "T", "P", "E"}, unit); }

std::string short_time(double ns) { return scaled(ns, {"n", "µ", "m", ""}, "s"); }

std::string with_commas(std::string number) {
  const std::size_t begin = number.starts_with('-') ? 1 : 0;
  for (std::size_t at = std::min(number.find('.'), number.size()); at > begin + 3; at -= 3) number.insert(at - 3, 1, ',');
  return number;
}

}  // namespace nl
