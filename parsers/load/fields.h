#pragma once

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "model/time.h"

// Members of JSON objects, for the readers of this folder: one of another kind than expected counts as missing.
namespace nl::parsers::results {

using Json = nlohmann::json;

inline const Json& member(const Json& object, const char* key) {
  static const Json kNone;
  if (!object.is_object()) return kNone;
  const auto found = object.find(key);
  return found == object.end() ? kNone : *found;
}

inline const Json& element(const Json& list, std::size_t place) {
  static const Json kNone;
  return list.is_array() && place < list.size() ? list[place] : kNone;
}

inline std::string text_of(const Json& value) { return value.is_string() ? value.get<std::string>() : std::string(); }

inline std::optional<double> number_of(const Json& value) {
  const double number = value.is_number() ? value.get<double>() : std::nan("");
  return std::isfinite(number) ? std::optional(number) : std::nullopt;
}

inline std::optional<std::uint64_t> count_of(const Json& value) {
  const auto number = number_of(value);
  return number && *number >= 0 && *number < 1e15 ? std::optional(static_cast<std::uint64_t>(*number)) : std::nullopt;
}

// A time of a clock, or how long something took. Both have room for a sum of two.
inline constexpr double kLatest_ns = 4e18, kLongest_ns = 1e18;

inline std::optional<Ns> ns_of(const Json& value, double unit_ns) {
  if (unit_ns == 1 && value.is_number_integer()) {  // a double would lose the last digits
    const auto whole = value.get<std::int64_t>();
    return whole >= 0 && whole < static_cast<Ns>(kLatest_ns) ? std::optional<Ns>(whole) : std::nullopt;
  }
  const auto number = number_of(value);
  return number && *number >= 0 && *number * unit_ns < kLatest_ns ? std::optional<Ns>(std::llround(*number * unit_ns)) : std::nullopt;
}

inline constexpr double kSecond_ns = 1e9, kMs_ns = 1e6;
inline constexpr std::size_t kMostErrorBytes = 200;

// The last line of a traceback is what went wrong.
inline std::string last_line(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  const std::size_t from = text.rfind('\n');
  return (from == std::string::npos ? text : text.substr(from + 1)).substr(0, kMostErrorBytes);
}

}  // namespace nl::parsers::results
