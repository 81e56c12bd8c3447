#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "model/ranks.h"

namespace nl::parsers {

// The variables by which launchers tell a process its rank: torchrun's, Slurm's, Open MPI's and those of MPICH and Intel MPI. Of all others
// nothing is kept.
class RankVariables {
 public:
  // "RANK=3", the value in quotes or not.
  void add(std::string_view assignment);
  RankFacts facts() const;

 private:
  static constexpr std::size_t kNames = 4;
  std::array<std::optional<std::uint32_t>, kNames> ranks_, worlds_;
};

}  // namespace nl::parsers
