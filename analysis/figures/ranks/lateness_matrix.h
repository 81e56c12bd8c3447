#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/figures/ranks/rank_steps.h"
#include "model/ranks.h"

namespace nl::analysis {

struct LatenessOfSteps {
  RankMatrix matrix;
  std::vector<std::uint64_t> latest;  // by index into Trace::ranks: in so many steps no other rank was as late
  std::vector<Ns> worst_ns;           // how late that rank was in its latest step
};

LatenessOfSteps lateness_of_steps(const Trace& trace, const SharedCollectives& shared, const RankSteps& steps, const std::string& stage);

}  // namespace nl::analysis
