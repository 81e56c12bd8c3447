#include "nvtx/names.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <system_error>

namespace nl::nvtx {
namespace {

// What separates, quantifies or anchors in ncu's NVTX filter: Domain@Outer/*/Inner, "A,B", "[A", "A]".
constexpr std::string_view kNcuSpecial = "@/,[]*+\\";

std::string escape(std::string_view text, std::string_view special) {
  std::string escaped;
  for (char c : text) {
    if (special.find(c) != std::string_view::npos) escaped += '\\';
    escaped += c;
  }
  return escaped;
}

// "prompt=256". A count that is not positive is ignored.
void read_token_count(std::string_view word, TokenMark& tokens) {
  const std::size_t equals = word.find('=');
  if (equals == std::string_view::npos) return;
  const std::string_view key = word.substr(0, equals), digits = word.substr(equals + 1);
  std::uint64_t count = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), count);
  if (error != std::errc() || end != digits.data() + digits.size() || count == 0) return;
  if (key == "prompt") tokens.prompt = count;
  if (key == "batch") tokens.batch = count;
  if (key == "beams") tokens.beams = count;
  if (key == "decode") tokens.decode = count;
}

std::string escape_for_ncu(std::string_view text) { return escape(text, kNcuSpecial); }

}  // namespace

bool says_place(std::string_view domain, std::string_view name) {
  return std::any_of(std::begin(kPlaceDomains), std::end(kPlaceDomains), [&](std::string_view known) {
    if (!domain.empty()) return domain == known;
    return known != kFoundStageDomain && name.size() > known.size() && name.starts_with(known) && name[known.size()] == '@';
  });
}

RangeName normalise_range(std::string_view domain, std::string_view name) {
  if (domain.empty()) {
    for (std::string_view known : {kLlmDomain, kOperatorDomain, kLayerDomain, kLineDomain, kClockDomain}) {
      bool literal = name.size() > known.size() + 1 && name.substr(0, known.size()) == known && name[known.size()] == '@';
      if (literal) return {std::string(known), std::string(name.substr(known.size() + 1))};
    }
  }
  return {std::string(domain), std::string(name)};
}

std::string stage_of(std::string_view domain, std::string_view name) {
  RangeName range = normalise_range(domain, name);
  if (range.domain != kLlmDomain || range.name == kModelCall || range.name == kGuidance) return {};
  if (range.name == kDecodeAll) return "decode";
  return range.name;
}

std::optional<TokenMark> parse_token_mark(std::string_view domain, std::string_view text) {
  constexpr std::string_view kTokens = "tokens";
  const RangeName mark = normalise_range(domain, text);
  if (mark.domain != kLlmDomain || mark.name.compare(0, kTokens.size(), kTokens) != 0) return std::nullopt;
  TokenMark tokens;
  std::string_view rest = std::string_view(mark.name).substr(kTokens.size());
  if (!rest.empty() && rest.front() != ' ') return std::nullopt;  // another word: "tokens_per_s 7"
  while (!rest.empty()) {
    const std::size_t blank = std::min(rest.find(' '), rest.size());
    read_token_count(rest.substr(0, blank), tokens);
    rest.remove_prefix(std::min(blank + 1, rest.size()));
  }
  if (!tokens.prompt && !tokens.batch && !tokens.beams && !tokens.decode) return std::nullopt;
  return tokens;
}

std::optional<std::int64_t> parse_clock_mark(std::string_view domain, std::string_view text) {
  constexpr std::string_view kKey = "monotonic_ns=";
  if (domain != kClockDomain && !text.starts_with(kClockDomain)) return std::nullopt;  // most marks, without a copy
  const RangeName mark = normalise_range(domain, text);
  if (mark.domain != kClockDomain || !mark.name.starts_with(kKey)) return std::nullopt;
  std::int64_t time_ns = 0;
  const char *begin = mark.name.data() + kKey.size(), *end = mark.name.data() + mark.name.size();
  const auto [stop, error] = std::from_chars(begin, end, time_ns);
  if (error != std::errc() || stop != end) return std::nullopt;
  return time_ns;
}

std::vector<std::string> ranges_of_stage(std::string_view stage) {
  if (stage == "decode") return {std::string(kDecodeAll), "decode", std::string(kDecodeStep)};
  return {std::string(stage)};
}

std::vector<std::string> ncu_include_filters(std::string_view stage) {
  std::vector<std::string> filters;
  for (const std::string& range : ranges_of_stage(stage)) {
    std::string in_domain = escape_for_ncu(kLlmDomain) + '@' + escape_for_ncu(range);
    std::string literal = escape_for_ncu(std::string(kLlmDomain) + '@' + range);
    for (const std::string& spelling : {in_domain, literal}) {
      filters.push_back(spelling + '/');
      filters.push_back(spelling);
    }
  }
  return filters;
}

}  // namespace nl::nvtx
