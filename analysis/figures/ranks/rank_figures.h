#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/staging/staged_trace.h"
#include "model/ranks.h"

namespace nl::analysis {

struct RankFigures {
  std::vector<RankEntry> ranks;
  RankMatrix matrix;
  std::vector<CollectiveRate> rates;
  std::vector<RankPair> pairs;
  std::vector<ExpertLoad> experts;
  std::optional<RankHang> hang;
};

// The ranks of a trace that was joined of their captures, with how late each was in the whole capture and in each step. `stage`: whose windows are
// the steps.
RankFigures rank_figures(const StagedTrace& staged, const std::string& stage);

}  // namespace nl::analysis
