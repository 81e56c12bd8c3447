#pragma once

#include <optional>
#include <string>

#include "model/run.h"

namespace nl {

// Whether the windows of the stage are the ranks' steps, of which their budgets and the matrix are.
inline bool are_rank_steps(const Run& run, const std::string& stage) { return !stage.empty() && run.rank_matrix.stage == stage; }

// The mean over the ranks of a part of their budgets, as a share of their steps; nothing: no rank has any.
inline std::optional<double> rank_share(const Run& run, Ns RankBudget::* part) {
  double part_ns = 0, wall_ns = 0;
  for (const RankEntry& rank : run.ranks) {
    part_ns += static_cast<double>(rank.budget.*part);
    wall_ns += static_cast<double>(rank.budget.wall_ns);
  }
  return wall_ns > 0 ? std::optional(part_ns / wall_ns) : std::nullopt;
}

}  // namespace nl
