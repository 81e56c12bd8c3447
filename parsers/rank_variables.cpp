#include "parsers/rank_variables.h"

#include <charconv>

namespace nl::parsers {
namespace {

std::optional<std::uint32_t> number_in(std::string_view text) {
  if (text.size() >= 2 && text.front() == '"' && text.back() == '"') text = text.substr(1, text.size() - 2);
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

}  // namespace

void RankVariables::add(std::string_view assignment) {
  const std::size_t equals = assignment.find('=');
  if (equals == std::string_view::npos) return;
  const std::string_view name = assignment.substr(0, equals), value = assignment.substr(equals + 1);
  for (std::size_t i = 0; i < kNames; ++i) {
    if (name == kRankVariables[i].rank) ranks_[i] = number_in(value);
    if (name == kRankVariables[i].world_size) worlds_[i] = number_in(value);
  }
}

RankFacts RankVariables::facts() const {
  for (std::size_t i = 0; i < kNames; ++i)
    if (ranks_[i]) return {ranks_[i], worlds_[i], RankSource::kEnvironment};
  return {};
}

}  // namespace nl::parsers
