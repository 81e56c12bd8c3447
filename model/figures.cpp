#include "model/figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace nl {
namespace {

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
