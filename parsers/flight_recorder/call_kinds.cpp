#include "parsers/flight_recorder/call_kinds.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace nl::parsers {
namespace {

constexpr std::array<std::string_view, 4> kOfRoot = {"broadcast", "_broadcast_oop", "reduce", "_reduce_oop"};

}  // namespace

std::string_view without_library(std::string_view name) {
  const std::size_t colon = name.find(':');
  return colon == name.npos ? name : name.substr(colon + 1);
}

CallRule call_rule(std::string_view kind) {
  if (kind.starts_with("send ")) return CallRule::kSend;
  if (kind.starts_with("recv ")) return CallRule::kReceive;
  if (kind == "scatter") return CallRule::kScatter;
  if (kind == "gather") return CallRule::kGather;
  if (std::find(kOfRoot.begin(), kOfRoot.end(), kind) != kOfRoot.end()) return CallRule::kRoot;
  const bool own_sizes = kind.starts_with("all_to_all") || kind.starts_with("alltoall") || kind.ends_with("_v") || is_batch(kind);
  return own_sizes ? CallRule::kFreeSizes : CallRule::kSame;
}

std::optional<std::uint32_t> peer_place(std::string_view kind) {
  const std::size_t arrow = std::min(kind.find("->"), kind.find("<-"));
  if (arrow == kind.npos) return std::nullopt;
  const std::string_view digits = kind.substr(arrow + 2);
  std::uint32_t place = 0;
  const auto [end, fault] = std::from_chars(digits.data(), digits.data() + digits.size(), place);
  if (fault != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return place;
}

bool is_batch(std::string_view kind) { return kind.ends_with("coalesced"); }

}  // namespace nl::parsers
