#pragma once

#include <array>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string_view>

#include "collector/launchers.h"
#include "model/ranks.h"

namespace nl::parsers {

// The variables by which launchers tell a process its rank (collector/launchers.h). Of all others nothing is kept.
class RankVariables {
 public:
  // "RANK=3", the value in quotes or not.
  void add(std::string_view assignment);
  RankFacts facts() const;

 private:
  static constexpr std::size_t kNames = std::size(kRankVariables);
  std::array<std::optional<std::uint32_t>, kNames> ranks_, worlds_;
};

}  // namespace nl::parsers
