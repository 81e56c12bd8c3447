#include "parsers/json/values.h"

#include <charconv>
#include <limits>

namespace nl::parsers {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  const std::size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

constexpr int kLargestExponent = 400;  // a double has 308

struct Decimal {
  bool negative = false;
  std::string_view whole, fraction;
  int exponent = 0;
};

// -12.5e+3
std::optional<Decimal> split(std::string_view text) {
  Decimal number;
  std::size_t at = 0;
  if (!text.empty() && text[0] == '-') number.negative = ++at;
  const auto digits = [&] {
    const std::size_t from = at;
    while (at < text.size() && is_digit(text[at])) ++at;
    return text.substr(from, at - from);
  };
  number.whole = digits();
  if (at < text.size() && text[at] == '.') {
    ++at;
    number.fraction = digits();
  }
  if (number.whole.empty()) return std::nullopt;
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    if (++at < text.size() && text[at] == '+') ++at;
    const auto [end, failure] = std::from_chars(text.data() + at, text.data() + text.size(), number.exponent);
    if (failure != std::errc() || number.exponent > kLargestExponent || number.exponent < -kLargestExponent) return std::nullopt;
    at = static_cast<std::size_t>(end - text.data());
  }
  if (at != text.size()) return std::nullopt;
  return number;
}

constexpr int kPlacesToNs = 3;  // a microsecond has a thousand

}  // namespace

std::optional<Ns> micros_to_ns(std::string_view text) {
  const auto number = split(trimmed(text));
  if (!number) return std::nullopt;
  const auto size = static_cast<int>(number->whole.size() + number->fraction.size());
  const auto digit = [&](int i) {
    const auto at = static_cast<std::size_t>(i);
    return (at < number->whole.size() ? number->whole[at] : number->fraction[at - number->whole.size()]) - '0';
  };
  // How many of the digits stand before the point once it is moved.
  const int kept = static_cast<int>(number->whole.size()) + number->exponent + kPlacesToNs;
  Ns value = 0;
  for (int i = 0; i < kept; ++i) {
    const int next = i < size ? digit(i) : 0;
    if (value > (std::numeric_limits<Ns>::max() - 10) / 10) return std::nullopt;
    value = value * 10 + next;
    if (i >= size && value == 0) break;
  }
  if (kept >= 0 && kept < size && digit(kept) >= 5) ++value;
  return number->negative ? -value : value;
}

std::optional<std::int64_t> whole_number(std::string_view token) {
  std::string_view text = trimmed(token);
  if (text.size() >= 2 && text.front() == '"' && text.back() == '"') text = text.substr(1, text.size() - 2);
  std::int64_t value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return value;
}

}  // namespace nl::parsers
