#include "analysis/statistics/change_points.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <optional>

#include "analysis/statistics/bootstrap.h"

namespace nl::analysis {
namespace {

constexpr double kOutlierSigmas = 5, kWildSigmas = 3;
constexpr double kThresholdFactor = 1.9;  // above sqrt(2 log n), the most that noise alone reaches: bench/compare_honesty trends
constexpr double kSmallSample = 3;
constexpr std::size_t kRunsOfLevel = 12;
constexpr double kUsualCorrelation = 0.5,
                 kFewValues = 20;     // what a series is taken to have beside what it shows, and for how many values that counts
constexpr double kLeastNoise = 1e-9;  // of the level; counts that never vary have none

void clamp_around(double& value, double middle, double reach) { value = std::clamp(value, middle - reach, middle + reach); }

// The median of the values around each one, of fewer at the ends, where a change must show early. A change of level stays in its place; a few values leave no
// trace.
std::vector<double> medians_around(const std::vector<double>& values) {
  constexpr std::size_t kEachSide = 4, kAtEnds = 7;
  if (values.size() < kAtEnds) return values;
  std::vector<double> medians;
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::size_t first = i - std::min(i, kEachSide), last = std::min(i + kEachSide + 1, values.size());
    if (first == 0) last = std::max(last, kAtEnds);
    if (last == values.size()) first = std::min(first, last - kAtEnds);
    medians.push_back(median_of({values.data() + first, values.data() + last}));
  }
  return medians;
}

// The values with those of disturbed runs brought back to their neighbours; nothing where so many stand out that they are a second level, not a disturbance.
std::optional<std::vector<double>> without_disturbed(const std::vector<double>& values) {
  constexpr double kMostDisturbed = 0.15;
  const std::vector<double> around = medians_around(values);
  std::vector<double> deviations;
  for (std::size_t i = 0; i < values.size(); ++i) deviations.push_back(values[i] - around[i]);
  const double sigma = robust_sigma(deviations);
  std::vector<double> calm = values;
  std::size_t disturbed = 0;
  for (std::size_t i = 0; i < values.size(); ++i)
    if (std::abs(deviations[i]) > kOutlierSigmas * sigma) {
      clamp_around(calm[i], around[i], kWildSigmas * sigma);
      ++disturbed;
    }
  if (static_cast<double>(disturbed) > kMostDisturbed * static_cast<double>(values.size())) return std::nullopt;
  return calm;
}

// The values with wild ones brought back, so that a disturbed run hardly moves a mean. Noise is measured on what is left. Where many stand out, only those beyond
// three times the spread of the middle three fifths are: of two clocks the slower one counts as noise.
std::vector<double> without_wild(const std::vector<double>& values) {
  constexpr double kOuter = 0.2, kToSigma = 1.683;  // of a normal distribution: from the first fifth to the last
  if (auto calm = without_disturbed(values)) return *calm;
  std::vector<double> sorted = values;
  std::sort(sorted.begin(), sorted.end());
  const auto cut = static_cast<std::size_t>(kOuter * static_cast<double>(sorted.size()));
  const double middle = median_of(sorted), reach = kWildSigmas * (sorted[sorted.size() - 1 - cut] - sorted[cut]) / kToSigma;
  std::vector<double> calm = values;
  if (reach > 0)
    for (double& value : calm) clamp_around(value, middle, reach);
  return calm;
}

// The variance of a value, from the differences of values that are `apart` places apart. `over_changes`: so many of them may go over a change of level; the
// largest are left out.
double step_variance(const std::vector<double>& values, std::size_t apart, std::size_t over_changes) {
  if (values.size() <= apart + over_changes) return 0;
  std::vector<double> squares;
  for (std::size_t i = apart; i < values.size(); ++i)
    squares.push_back((values[i] - values[i - apart]) * (values[i] - values[i - apart]) / 2);
  std::sort(squares.begin(), squares.end());
  squares.resize(squares.size() - over_changes);
  return std::accumulate(squares.begin(), squares.end(), 0.0) / static_cast<double>(squares.size());
}

// More changes than a series has. Two clocks change more often, and count as noise.
std::size_t most_changes(const std::vector<double>& values) { return 1 + values.size() / kRunsOfLevel; }

// The correlation of neighbours. Where each value is somewhat like the one before, differences over one place are smaller than those over
// two: their squares are as 1 to 1 + correlation. A short series shows little of it, and is taken to be as series usually are.
double correlation_of(const std::vector<double>& values) {
  const std::size_t over_changes = 2 * most_changes(values);  // a change is in one difference over one place, and in two over two
  const double single = step_variance(values, 1, over_changes), twice = step_variance(values, 2, over_changes);
  const auto count = static_cast<double>(values.size());
  const double shown = single > 0 ? std::clamp(twice / single - 1, 0.0, 0.9) : 0;
  return (count * shown + kFewValues * kUsualCorrelation) / (count + kFewValues);
}

// The spread that independent values would need for their means to be as uncertain as the means of these values.
double noise_of(const std::vector<double>& values) {
  const double correlation = correlation_of(values), few = 1 + kSmallSample / static_cast<double>(values.size());
  return few * std::sqrt(step_variance(values, 1, most_changes(values)) / (1 - correlation) * (1 + correlation) / (1 - correlation));
}

struct Split {
  std::size_t first = 0, at = 0, last = 0;
  double strength = 0;  // the difference of the means in standard errors
};

class Segmentation {
 public:
  Segmentation(const std::vector<double>& values, double noise) : noise_(noise), origin_(values[0]), sums_(values.size() + 1, 0.0) {
    for (std::size_t i = 0; i < values.size(); ++i) sums_[i + 1] = sums_[i] + (values[i] - origin_);
  }

  double mean(std::size_t first, std::size_t last) const {
    return origin_ + (sums_[last] - sums_[first]) / static_cast<double>(last - first);
  }

  // How far the values before and after a place are apart, in standard errors.
  double strength(std::size_t first, std::size_t at, std::size_t last) const {
    const double left = static_cast<double>(at - first), right = static_cast<double>(last - at);
    return std::abs(mean(at, last) - mean(first, at)) * std::sqrt(left * right / (left + right)) / noise_;
  }

  // The best place between two positions; nothing where there is none.
  std::optional<Split> best_split(std::size_t first, std::size_t last) const {
    std::optional<Split> best;
    for (std::size_t at = first + kLeastRuns; at + kLeastRuns <= last; ++at) {
      const double here = strength(first, at, last);
      if (!best || here > best->strength) best = Split{first, at, last, here};
    }
    return best;
  }

 private:
  double noise_, origin_;  // sums of small numbers lose fewer digits
  std::vector<double> sums_;
};

// Intervals of every length, each half over its neighbours: around every change there is one that holds no other change.
std::vector<Split> seeded_splits(const Segmentation& series, std::size_t size, double threshold) {
  std::vector<Split> splits;
  for (double length = static_cast<double>(size); length >= 2.0 * kLeastRuns; length /= std::sqrt(2.0)) {
    const auto whole = static_cast<std::size_t>(std::ceil(length));
    const std::size_t shift = std::max<std::size_t>(1, whole / 2);
    for (std::size_t first = 0; first < size; first += shift) {
      const std::size_t last = std::min(size, first + whole);
      if (const auto split = series.best_split(first, last); split && split->strength > threshold) splits.push_back(*split);
      if (last == size) break;
    }
  }
  return splits;
}

// Takes the strongest change first, then looks for others only in intervals without it.
std::vector<std::size_t> strongest_first(std::vector<Split> splits) {
  std::stable_sort(splits.begin(), splits.end(), [](const Split& a, const Split& b) { return a.strength > b.strength; });
  std::vector<std::size_t> found;  // sorted
  for (const Split& split : splits) {
    const auto inside = std::upper_bound(found.begin(), found.end(), split.first);
    if (inside == found.end() || *inside >= split.last) found.insert(inside, split.at);
  }
  return found;
}

// A short series has few intervals, so the stretches between the changes are searched once more.
void split_further(const Segmentation& series, double threshold, std::vector<std::size_t>& borders) {
  for (std::size_t i = 0; i + 1 < borders.size();) {
    const auto split = series.best_split(borders[i], borders[i + 1]);
    if (split && split->strength > threshold) borders.insert(borders.begin() + static_cast<std::ptrdiff_t>(i) + 1, split->at);
    else ++i;
  }
}

// The weakest change, as a multiple of the required strength: strong against the noise, and large against the level before it.
struct WeakChange {
  std::size_t border = 0;
  double share = 1;
};
WeakChange weakest_of(const Segmentation& series, const std::vector<double>& values, const std::vector<std::size_t>& borders, double needed,
                      double min_effect) {
  WeakChange weakest;
  const auto level = [&](std::size_t i) { return median_of({values.data() + borders[i], values.data() + borders[i + 1]}); };
  for (std::size_t i = 1; i + 1 < borders.size(); ++i) {
    const double before = level(i - 1), after = level(i);
    double share = series.strength(borders[i - 1], borders[i], borders[i + 1]) / needed;
    if (before != 0 && min_effect > 0) share = std::min(share, std::abs(after - before) / std::abs(before) / min_effect);
    if (share < weakest.share) weakest = {i, share};
  }
  return weakest;
}

// Removes weak changes one by one, because each removal changes the levels beside it.
void drop_weak(const Segmentation& series, const std::vector<double>& values, double needed, double min_effect,
               std::vector<std::size_t>& borders) {
  for (WeakChange weak; (weak = weakest_of(series, values, borders, needed, min_effect)).border != 0;)
    borders.erase(borders.begin() + static_cast<std::ptrdiff_t>(weak.border));
}

// Moves each change to the place between its neighbours where it fits best.
void settle(const Segmentation& series, std::vector<std::size_t>& borders) {
  for (std::size_t i = 1; i + 1 < borders.size(); ++i)
    if (const auto split = series.best_split(borders[i - 1], borders[i + 1])) borders[i] = split->at;
}

SeriesLevel level_between(const std::vector<double>& values, std::size_t first, std::size_t last) {
  SeriesLevel level{first, last, median_of({values.data() + first, values.data() + last}), 0};
  std::vector<double> deviations;
  for (std::size_t i = first; i < last; ++i) deviations.push_back(values[i] - level.median);
  level.spread = robust_sigma(std::move(deviations));
  return level;
}

}  // namespace

std::vector<SeriesLevel> levels_of(const std::vector<double>& values, double min_effect) {
  if (values.empty()) return {};
  const std::vector<double> calm = without_wild(values);
  const Segmentation series(calm, std::max({noise_of(calm), kLeastNoise * std::abs(median_of(values)), 1e-300}));
  const double threshold = kThresholdFactor * std::sqrt(2 * std::log(std::max<double>(4, static_cast<double>(values.size()))));
  std::vector<std::size_t> borders = strongest_first(seeded_splits(series, values.size(), threshold));
  borders.insert(borders.begin(), 0);
  borders.push_back(values.size());
  settle(series, borders);
  split_further(series, threshold, borders);
  settle(series, borders);
  drop_weak(series, values, threshold, min_effect, borders);
  settle(series, borders);
  std::vector<SeriesLevel> levels;
  for (std::size_t i = 0; i + 1 < borders.size(); ++i) levels.push_back(level_between(values, borders[i], borders[i + 1]));
  return levels;
}

double expected_reach(const SeriesLevel& level, double min_effect) {
  return std::max({kOutlierSigmas * level.spread, min_effect * std::abs(level.median), kLeastNoise * std::abs(level.median)});
}

std::vector<std::size_t> anomalies_of(const std::vector<double>& values, const std::vector<SeriesLevel>& levels, double min_effect) {
  std::vector<std::size_t> found;
  for (const SeriesLevel& level : levels) {
    if (level.last - level.first < kLeastHistory) continue;
    const double reach = expected_reach(level, min_effect);
    for (std::size_t i = level.first; i < level.last; ++i)
      if (std::abs(values[i] - level.median) > reach) found.push_back(i);
  }
  return found;
}

}  // namespace nl::analysis
