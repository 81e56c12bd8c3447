#include "nvtx/names.h"

namespace nl {
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

std::string escape_for_ncu(std::string_view text) { return escape(text, kNcuSpecial); }

}  // namespace

RangeName normalise_range(std::string_view domain, std::string_view name) {
  if (domain.empty()) {
    for (std::string_view known : {kLlmDomain, kOperatorDomain}) {
      bool literal = name.size() > known.size() + 1 && name.substr(0, known.size()) == known && name[known.size()] == '@';
      if (literal) return {std::string(known), std::string(name.substr(known.size() + 1))};
    }
  }
  return {std::string(domain), std::string(name)};
}

std::string stage_of(std::string_view domain, std::string_view name) {
  RangeName range = normalise_range(domain, name);
  if (range.domain != kLlmDomain) return {};
  if (range.name == kDecodeAll) return "decode";
  return range.name;
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

std::string nsys_capture_filter(std::string_view domain, std::string_view name) {
  std::string range = escape(name, "@");
  return domain.empty() ? range : range + '@' + escape(domain, "@");
}

}  // namespace nl
