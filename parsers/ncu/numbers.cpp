#include "parsers/ncu/cells.h"

#include <fmt/core.h>

#include <array>
#include <cctype>
#include <charconv>
#include <string>
#include <string_view>
#include <utility>

namespace nl::parsers {
namespace {

bool is_decimal_digit(char c) { return c >= '0' && c <= '9'; }

// Blanks that locales group thousands with, and apostrophes, all as one character: '_'.
// "1 234,5" (a plain blank, U+00A0 or U+202F), "1'234.5" (or U+2019)
std::string fold_group_marks(std::string_view text) {
  static constexpr std::array<std::string_view, 5> kMarks = {" ", "\xC2\xA0", "\xE2\x80\xAF", "'", "\xE2\x80\x99"};
  std::string folded;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t width = 0;
    for (const auto mark : kMarks)
      if (text.compare(at, mark.size(), mark) == 0) width = mark.size();
    if (width > 0) folded += '_';
    else folded += text[at];
    at += width > 0 ? width : 1;
  }
  return folded;
}

// The parts of "-1,234.50e+06": digits and separators apart from sign and exponent.
struct Parts {
  bool negative = false;
  std::string body;
  int exponent = 0;
};

std::optional<Parts> take_apart(std::string_view text) {
  // With --print-metric-instances: "119 (3; 4; 112)": the aggregate comes first.
  if (const auto instances = text.find(" ("); instances != std::string_view::npos && text.back() == ')') text = text.substr(0, instances);
  Parts parts;
  parts.body = fold_group_marks(text);
  if (!parts.body.empty() && (parts.body[0] == '-' || parts.body[0] == '+')) {
    parts.negative = parts.body[0] == '-';
    parts.body.erase(0, 1);
  }
  if (const auto e = parts.body.find_first_of("eE"); e != std::string::npos && e > 0) {
    const char* begin = parts.body.data() + e + 1;
    const char* end = parts.body.data() + parts.body.size();
    if (begin != end && *begin == '+') ++begin;
    if (auto [rest, error] = std::from_chars(begin, end, parts.exponent); error != std::errc{} || rest != end) return std::nullopt;
    parts.body.erase(e);
  }
  if (parts.body.empty() || !is_decimal_digit(parts.body.back())) return std::nullopt;
  if (!is_decimal_digit(parts.body[0]) && parts.body[0] != '.' && parts.body[0] != ',') return std::nullopt;
  for (const char c : parts.body)
    if (!is_decimal_digit(c) && c != '.' && c != ',' && c != '_') return std::nullopt;
  return parts;
}

std::size_t count(const std::string& text, char c) {
  std::size_t n = 0;
  for (const char each : text) n += each == c;
  return n;
}

// Whether `mark` cuts the body (up to `end`) into 1 to 3 digits and then groups of three.
bool groups_in_threes(const std::string& body, char mark, std::size_t end) {
  std::size_t digits = 0;
  bool first = true;
  for (std::size_t i = 0; i <= end; ++i) {
    if (i < end && is_decimal_digit(body[i])) {
      ++digits;
    } else if (i == end || body[i] == mark) {
      if (first ? digits < 1 || digits > 3 : digits != 3) return false;
      first = false;
      digits = 0;
    } else {
      return false;
    }
  }
  return true;
}

enum class Notation { kPlain, kDecimal, kGroup, kEither, kBroken };

// What a body with one kind of separator can only mean.
Notation read_single(const std::string& body, char mark) {
  const std::size_t marks = count(body, mark);
  if (marks == 0) return Notation::kPlain;
  const bool threes = groups_in_threes(body, mark, body.size());
  if (marks > 1) return threes ? Notation::kGroup : Notation::kBroken;
  if (!threes || body[0] == '0') return Notation::kDecimal;
  return Notation::kEither;
}

NumberFormat::Value number(const Parts& parts, char decimal) {
  std::string plain = parts.negative ? "-" : "";
  for (const char c : parts.body) {
    if (is_decimal_digit(c)) plain += c;
    if (c == decimal) plain += '.';
  }
  if (parts.exponent != 0) plain += fmt::format("e{}", parts.exponent);
  double value = 0;
  const auto [rest, error] = std::from_chars(plain.data(), plain.data() + plain.size(), value);
  if (error == std::errc::result_out_of_range)
    return {parts.exponent < 0 ? NumberFormat::Kind::kNumber : NumberFormat::Kind::kNotFinite, 0};
  if (error != std::errc{} || rest != plain.data() + plain.size()) return {};
  return {NumberFormat::Kind::kNumber, value};
}

// A ratio of nothing to nothing, as C libraries write it: "nan", "-nan", "NaN", "inf", "+Inf", "Infinity".
bool is_not_finite(std::string_view text) {
  if (text.front() == '-' || text.front() == '+') text.remove_prefix(1);
  std::string small(text);
  for (char& c : small) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return small == "nan" || small == "inf" || small == "infinity" || small.starts_with("nan(");
}

// The decimal mark of a body with several kinds of marks, if it can be read at all: '\0' for none.
std::optional<char> decimal_of_mixed(const std::string& body) {
  const std::size_t last = body.find_last_of(".,_");
  const char decimal = body[last];
  if (decimal == '_' || count(body, decimal) != 1) return std::nullopt;
  const char group = body[body.find_first_of(".,_")];
  if (!groups_in_threes(body, group, last)) return std::nullopt;
  return decimal;
}

int kinds_of_marks(const std::string& body) { return (count(body, '.') > 0) + (count(body, ',') > 0) + (count(body, '_') > 0); }

}  // namespace

void NumberFormat::observe(std::string_view text, bool kernel_ns) {
  const auto parts = take_apart(text);
  if (!parts) return;
  const std::string& body = parts->body;
  if (kinds_of_marks(body) > 1) {
    const auto decimal = decimal_of_mixed(body);
    if (!decimal) return;
    ++(*decimal == '.' ? point_decimal_ : comma_decimal_);
    if (count(body, '_') > 0) ++other_group_;
    return;
  }
  if (count(body, '_') > 0) {
    if (groups_in_threes(body, '_', body.size())) ++other_group_;
    return;
  }
  for (const char mark : {'.', ','}) {
    Notation reading = read_single(body, mark);
    if (reading == Notation::kEither && kernel_ns) reading = Notation::kGroup;
    if (reading == Notation::kDecimal) ++(mark == '.' ? point_decimal_ : comma_decimal_);
    if (reading == Notation::kGroup) ++(mark == '.' ? point_group_ : comma_group_);
  }
}

// A file has one decimal mark and one group mark, and they differ.
bool NumberFormat::decimal_is(char separator) const {
  const bool comma = separator == ',';
  const std::uint64_t votes_for = (comma ? comma_decimal_ : point_decimal_) + (comma ? point_group_ : comma_group_) + other_group_;
  const std::uint64_t votes_against = (comma ? comma_group_ : point_group_) + (comma ? point_decimal_ : comma_decimal_);
  return votes_for > 0 && votes_against == 0;
}

bool NumberFormat::group_is(char separator) const {
  const bool comma = separator == ',';
  const std::uint64_t votes_for = (comma ? comma_group_ : point_group_) + (comma ? point_decimal_ : comma_decimal_);
  const std::uint64_t votes_against = (comma ? comma_decimal_ : point_decimal_) + (comma ? point_group_ : comma_group_);
  return votes_for > 0 && votes_against == 0 && other_group_ == 0;
}

NumberFormat::Value NumberFormat::read(std::string_view text) const {
  if (text.empty() || text == "no data" || text == "n/a") return {Kind::kNoData, 0};
  if (is_not_finite(text)) return {Kind::kNotFinite, 0};
  const auto parts = take_apart(text);
  if (!parts) return {Kind::kText, 0};
  const std::string& body = parts->body;
  if (kinds_of_marks(body) > 1) {
    const auto decimal = decimal_of_mixed(body);
    return decimal ? number(*parts, *decimal) : Value{Kind::kText, 0};
  }
  if (count(body, '_') > 0) return groups_in_threes(body, '_', body.size()) ? number(*parts, '\0') : Value{Kind::kText, 0};
  const char mark = count(body, ',') > 0 ? ',' : '.';
  switch (read_single(body, mark)) {
    case Notation::kBroken: return {Kind::kText, 0};
    case Notation::kPlain:
    case Notation::kGroup: return number(*parts, '\0');
    case Notation::kDecimal: return number(*parts, mark);
    case Notation::kEither: break;
  }
  if (group_is(mark)) return number(*parts, '\0');
  if (decimal_is(mark)) return number(*parts, mark);
  return {Kind::kUndecidable, 0};
}

namespace {

struct Scaled {
  std::string_view prefix;
  double factor;
};
constexpr std::array<Scaled, 11> kPrefixes = {{{"", 1},
                                               {"K", 1e3},
                                               {"k", 1e3},
                                               {"M", 1e6},
                                               {"G", 1e9},
                                               {"T", 1e12},
                                               {"P", 1e15},
                                               {"Ki", 1024.0},
                                               {"Mi", 1048576.0},
                                               {"Gi", 1073741824.0},
                                               {"Ti", 1099511627776.0}}};
// ncu writes nsecond to second, or ns to s. The other prefixes are what SI makes of them: 1 Ksecond are 1,000 seconds.
constexpr std::array<Scaled, 9> kTimes = {
    {{"", 1e9}, {"n", 1}, {"u", 1e3}, {"\xC2\xB5", 1e3}, {"m", 1e6}, {"p", 1e-3}, {"K", 1e12}, {"k", 1e12}, {"M", 1e15}}};

template <std::size_t N>
std::optional<double> find(const std::array<Scaled, N>& table, std::string_view prefix) {
  for (const auto& [name, factor] : table)
    if (name == prefix) return factor;
  return std::nullopt;
}

bool strip_suffix(std::string_view& text, std::string_view suffix) {
  if (text.size() < suffix.size() || text.substr(text.size() - suffix.size()) != suffix) return false;
  text.remove_suffix(suffix.size());
  return true;
}

bool strip_second(std::string_view& unit) {
  return strip_suffix(unit, "seconds") || strip_suffix(unit, "second") || strip_suffix(unit, "sec");
}

std::optional<double> time_in_ns(std::string_view unit) {
  return strip_second(unit) || strip_suffix(unit, "s") ? find(kTimes, unit) : std::nullopt;
}

// A unit without a slash.
std::optional<double> simple_unit(std::string_view unit) {
  if (const auto ns = time_in_ns(unit)) return ns;
  std::string_view prefix = unit;
  if (strip_second(prefix)) return std::nullopt;
  const bool scaled = strip_suffix(prefix, "bytes") || strip_suffix(prefix, "byte") || strip_suffix(prefix, "hz") ||
                      strip_suffix(prefix, "Hz") || strip_suffix(prefix, "B");
  if (scaled) return find(kPrefixes, prefix);
  return 1.0;  // %, inst, cycle, warp, sector …: ncu never scales them
}

}  // namespace

std::optional<double> to_base_unit(std::string_view unit) {
  const auto slash = unit.find('/');
  const auto numerator = simple_unit(unit.substr(0, slash));
  if (slash == std::string_view::npos || !numerator) return numerator;
  const std::string_view below = unit.substr(slash + 1);
  // Rates are per second: 1.98 cycle/nsecond are 1.98e9 cycle/s.
  if (const auto ns = time_in_ns(below)) return *numerator * (1e9 / *ns);
  // ncu multiplies where it should divide: its "1.591 %/Kbyte" is "1591 %/byte" in base units.
  const auto denominator = simple_unit(below);
  if (!denominator) return std::nullopt;
  return *numerator * *denominator;
}

}  // namespace nl::parsers
