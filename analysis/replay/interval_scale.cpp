#include "analysis/replay/interval_scale.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "analysis/statistics/bootstrap.h"

namespace nl::analysis {
namespace {

constexpr double kLeastScale = 0.1;  // an interval of nothing would miss the next outcome

// How much of its shipped reach an outcome needed. A pair that was scaled already counts by the reach that it would have had without.
double score_of(const PredictionPair& pair) {
  const double reach = std::log(pair.high_ratio / pair.low_ratio) / 2 / pair.interval_scale;
  return std::abs(std::log(pair.measured_ratio / pair.predicted_ratio)) / reach;
}

PairFigures figures_of(std::span<const PredictionPair> pairs) {
  PairFigures figures{pairs.size(), 0, 0};
  std::vector<double> errors;
  for (const PredictionPair& pair : pairs) {
    figures.within += pair.within();
    errors.push_back(std::abs(pair.error()));
  }
  figures.median_error = median_of(std::move(errors));
  return figures;
}

std::vector<PairsOfKind> by_kind(std::span<const PredictionPair> pairs) {
  std::map<std::string, std::vector<PredictionPair>> kinds;
  for (const PredictionPair& pair : pairs) kinds[pair.kind].push_back(pair);
  std::vector<PairsOfKind> out;
  for (const auto& [kind, those] : kinds) out.push_back({kind, figures_of(those)});
  return out;
}

}  // namespace

double interval_scale(std::span<const PredictionPair> pairs) {
  std::vector<double> scores;
  for (const PredictionPair& pair : pairs)
    if (const double score = score_of(pair); std::isfinite(score)) scores.push_back(score);
  // The smallest k of at least 0.9 (n + 1), in whole numbers.
  const std::size_t k = (9 * (scores.size() + 1) + 9) / 10;
  if (k > scores.size()) return 1;
  const auto kth = scores.begin() + static_cast<std::ptrdiff_t>(k - 1);
  std::nth_element(scores.begin(), kth, scores.end());
  return std::max(*kth, kLeastScale);
}

std::vector<PredictionRecord> prediction_records(std::vector<PredictionPair> pairs) {
  std::map<std::string, PredictionRecord> by_hardware;
  for (PredictionPair& pair : pairs) by_hardware[pair.hardware].pairs.push_back(std::move(pair));
  std::vector<PredictionRecord> out;
  for (auto& [hardware, record] : by_hardware) {
    record.hardware = hardware;
    record.figures = figures_of(record.pairs);
    record.kinds = by_kind(record.pairs);
    record.interval_scale = interval_scale(record.pairs);
    out.push_back(std::move(record));
  }
  return out;
}

}  // namespace nl::analysis
