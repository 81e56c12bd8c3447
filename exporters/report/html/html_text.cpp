#include "exporters/report/html/html.h"

#include <utility>

namespace nl::exporters::html {
namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd";

// How many bytes the character at `at` has; 0 where it is not valid UTF-8 (overlong forms and surrogates among them).
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

// Where there is none, how many bytes run.json replaces at once: the beginning of a character goes as one, as Unicode advises.
std::size_t ill_formed_bytes(std::string_view raw, std::size_t at) {
  const auto byte = [&](std::size_t i) { return at + i < raw.size() ? static_cast<unsigned char>(raw[at + i]) : 0u; };
  const unsigned first = byte(0), second = byte(1);
  if (first < 0xE0 || first > 0xF4) return 1;
  const unsigned low = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80, high = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
  if (second < low || second > high) return 1;
  return first >= 0xF0 && (byte(2) & 0xC0u) == 0x80u ? 3 : 2;
}

// What turns the direction of a line, as people shall see it. A name could show itself as another one.
std::string_view turning(std::string_view character) {
  static constexpr std::pair<std::string_view, std::string_view> kTurning[] = {
      {"\u200e", "\\u200e"}, {"\u200f", "\\u200f"}, {"\u202a", "\\u202a"}, {"\u202b", "\\u202b"},
      {"\u202c", "\\u202c"}, {"\u202d", "\\u202d"}, {"\u202e", "\\u202e"}, {"\u2066", "\\u2066"},
      {"\u2067", "\\u2067"}, {"\u2068", "\\u2068"}, {"\u2069", "\\u2069"}};
  if (character.front() != '\xe2') return {};
  for (const auto& [raw, shown] : kTurning)
    if (character == raw) return shown;
  return {};
}

std::size_t one_byte(std::string_view, std::size_t) { return 1; }

char blank_of_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? ' ' : c; }

void add_ascii(char c, std::string& out) {
  switch (c) {
    case '&': out += "&amp;"; return;
    case '<': out += "&lt;"; return;
    case '>': out += "&gt;"; return;
    case '"': out += "&quot;"; return;
    case '\'': out += "&#39;"; return;
    default: out += blank_of_control(c);
  }
}

// `wrong_bytes(raw, at)`: how many one U+FFFD stands for.
template <class AddAscii, class WrongBytes>
std::string cleaned(std::string_view raw, AddAscii add, WrongBytes wrong_bytes, bool for_people = false) {
  std::string out;
  out.reserve(raw.size() + raw.size() / 8);
  for (std::size_t i = 0; i < raw.size();) {
    const std::size_t bytes = character_bytes(raw, i);
    if (bytes == 1) add(raw[i], out);
    else if (bytes == 0) out += kReplacement;
    else if (const std::string_view turned = for_people ? turning(raw.substr(i, bytes)) : ""; !turned.empty()) out += turned;
    else out += raw.substr(i, bytes);
    i += bytes == 0 ? wrong_bytes(raw, i) : bytes;
  }
  return out;
}

}  // namespace

std::string text(std::string_view raw) { return cleaned(raw, add_ascii, one_byte, true); }

std::string utf8(std::string_view raw) {
  return cleaned(raw, [](char c, std::string& out) { out += c; }, one_byte);
}

std::string plain(std::string_view raw) {
  return cleaned(raw, [](char c, std::string& out) { out += blank_of_control(c); }, ill_formed_bytes);
}

std::string attribute(std::string_view name, std::string_view value) {
  std::string out = " ";
  return out.append(name).append("=\"").append(text(value)).append("\"");
}

}  // namespace nl::exporters::html
