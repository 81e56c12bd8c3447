#include "analysis/statistics/change_points.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "analysis/statistics/bootstrap.h"

namespace nl::analysis {
namespace {

constexpr double kMadToSigma = 1.4826;  // of a normal distribution
constexpr double kOutlierSigmas = 5;
constexpr double kThresholdFactor = 1.3;  // above sqrt(2 log n), the most that noise alone reaches: 1,000 quiet series in the tests
constexpr double kFewValues = 20, kSmallSample = 3;
constexpr double kLeastNoise = 1e-9;  // of the level; counts that never vary have none

double robust_sigma(std::vector<double> deviations) {
  for (double& deviation : deviations) deviation = std::abs(deviation);
  return kMadToSigma * median_of(std::move(deviations));
}

// The spread of a value, from the differences of values that are `apart` places apart: changes of level hardly count in these.
double step_sigma(const std::vector<double>& values, std::size_t apart) {
  std::vector<double> steps;
  for (std::size_t i = apart; i < values.size(); ++i) steps.push_back(values[i] - values[i - apart]);
  return robust_sigma(std::move(steps)) / std::sqrt(2.0);
}

// The correlation of neighbours. Where each value is somewhat like the one before, differences over one place are smaller than those over
// two: their squares are as 1 to 1 + correlation. A short series shows little of it, so the result is scaled down there.
double correlation_of(const std::vector<double>& values) {
  const double single = step_sigma(values, 1), twice = step_sigma(values, 2);
  const auto count = static_cast<double>(values.size());
  return single > 0 ? std::clamp(twice * twice / (single * single) - 1, 0.0, 0.9) * count / (count + kFewValues) : 0;
}

// The spread that independent values would need for their means to be as uncertain as the means of these values.
double noise_of(const std::vector<double>& values) {
  const double correlation = correlation_of(values), few = 1 + kSmallSample / static_cast<double>(values.size());
  return few * step_sigma(values, 1) / std::sqrt(1 - correlation) * std::sqrt((1 + correlation) / (1 - correlation));
}

// The median of a value and the two on each side of it.
double middle_around(const std::vector<double>& values, std::size_t at) {
  const auto first = values.begin() + static_cast<std::ptrdiff_t>(at < 2 ? 0 : at - 2);
  return median_of({first, values.begin() + static_cast<std::ptrdiff_t>(std::min(values.size(), at + 3))});
}

// The values with each outlier replaced by the median around it: a single outlier would shift the level of its stretch.
std::vector<double> without_outliers(const std::vector<double>& values, double noise) {
  std::vector<double> calm = values;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double around = middle_around(values, i);
    if (std::abs(values[i] - around) > kOutlierSigmas * noise) calm[i] = around;
  }
  return calm;
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
WeakChange weakest_of(const Segmentation& series, const std::vector<std::size_t>& borders, double needed, double min_effect) {
  WeakChange weakest;
  for (std::size_t i = 1; i + 1 < borders.size(); ++i) {
    const double before = series.mean(borders[i - 1], borders[i]), after = series.mean(borders[i], borders[i + 1]);
    double share = series.strength(borders[i - 1], borders[i], borders[i + 1]) / needed;
    if (before != 0 && min_effect > 0) share = std::min(share, std::abs(after - before) / std::abs(before) / min_effect);
    if (share < weakest.share) weakest = {i, share};
  }
  return weakest;
}

// Removes weak changes one by one, because each removal changes the levels beside it.
void drop_weak(const Segmentation& series, double needed, double min_effect, std::vector<std::size_t>& borders) {
  for (WeakChange weak; (weak = weakest_of(series, borders, needed, min_effect)).border != 0;)
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
  const double floor = kLeastNoise * std::abs(median_of(values));
  const double noise = std::max({noise_of(values), floor, 1e-300});
  const std::vector<double> calm = without_outliers(values, std::max(step_sigma(values, 1), floor));
  const Segmentation series(calm, noise);
  const double threshold = kThresholdFactor * std::sqrt(2 * std::log(std::max<double>(4, static_cast<double>(values.size()))));
  std::vector<std::size_t> borders = strongest_first(seeded_splits(series, values.size(), threshold));
  borders.insert(borders.begin(), 0);
  borders.push_back(values.size());
  settle(series, borders);
  split_further(series, threshold, borders);
  settle(series, borders);
  drop_weak(series, threshold, min_effect, borders);
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
