#pragma once

#include <cstddef>
#include <vector>

namespace nl::analysis {

// Values in their order, all of one level: from one change point to the next.
struct SeriesLevel {
  std::size_t first = 0, last = 0;  // last is one past it
  double median = 0;
  double spread = 0;  // robust standard deviation of its values; 0: they are all alike
};

// Where a series changes its level, by seeded binary segmentation (Kovács, Bühlmann, Li, Munk 2023): the same series always gives the same
// levels, in n log n. A single wild value is not a change; a change has at least kLeastRuns values on each side, is larger than the noise
// explains (also noise that wanders), and at least min_effect of the level before it.
inline constexpr std::size_t kLeastRuns = 3;
std::vector<SeriesLevel> levels_of(const std::vector<double>& values, double min_effect);

// How far from its median a value of a level may lie: 5 times the spread, and min_effect.
double expected_reach(const SeriesLevel& level, double min_effect);

// The values that lie farther from their level's median than that. Levels of fewer than kLeastHistory values have no history to judge by.
inline constexpr std::size_t kLeastHistory = 8;
std::vector<std::size_t> anomalies_of(const std::vector<double>& values, const std::vector<SeriesLevel>& levels, double min_effect);

}  // namespace nl::analysis
