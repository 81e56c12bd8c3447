#include <fmt/format.h>

#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdio>

#include "exporters/fact_tables/table.h"

namespace nl::exporters::fact_tables {
namespace {

constexpr std::array<std::string_view, kTypes> kTypeNames = {"integer", "real", "text", "boolean", "time"};

// ".25Z" → 250000; "Z" → 0
std::int64_t microseconds_of(std::string_view fraction) {
  constexpr std::size_t kDigits = 6;
  std::int64_t value = 0;
  bool given = fraction.starts_with('.');
  for (std::size_t at = 1; at <= kDigits; ++at) {
    given = given && at < fraction.size() && fraction[at] >= '0' && fraction[at] <= '9';
    value = value * 10 + (given ? fraction[at] - '0' : 0);
  }
  return value;
}

}  // namespace

std::string_view name_of(Type type) { return kTypeNames[static_cast<std::size_t>(type)]; }

Value number_of(const std::string& digits) {
  double value = 0;
  const char* end = digits.data() + digits.size();
  const auto [stop, failure] = std::from_chars(digits.data(), end, value);
  return failure == std::errc() && stop == end && std::isfinite(value) ? Value(value) : Value();
}

Value time_of(const std::string& rfc3339) {
  int year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0, read = 0;
  if (std::sscanf(rfc3339.c_str(), "%4d-%2d-%2dT%2d:%2d:%2d%n", &year, &month, &day, &hour, &minute, &second, &read) != 6) return {};
  const std::chrono::year_month_day date{std::chrono::year(year), std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day))};
  if (!date.ok() || !rfc3339.ends_with('Z')) return {};
  const auto time = std::chrono::sys_days(date).time_since_epoch() + std::chrono::hours(hour) + std::chrono::minutes(minute) +
                    std::chrono::seconds(second);
  return std::chrono::duration_cast<std::chrono::microseconds>(time).count() +
         microseconds_of(std::string_view(rfc3339).substr(static_cast<std::size_t>(read)));
}

std::string time_text(std::int64_t epoch_us) {
  const std::chrono::sys_time<std::chrono::microseconds> time{std::chrono::microseconds(epoch_us)};
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(time - day);
  const auto fraction = clock.subseconds().count();
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}{}Z", static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                     static_cast<unsigned>(date.day()), clock.hours().count(), clock.minutes().count(), clock.seconds().count(),
                     fraction != 0 ? fmt::format(".{:06}", fraction) : "");
}

}  // namespace nl::exporters::fact_tables
