#include "analysis/statistics/robust_line.h"

#include <algorithm>
#include <cmath>

#include "analysis/statistics/bootstrap.h"

namespace nl::analysis {
namespace {

using Points = std::vector<std::pair<double, double>>;

constexpr std::size_t kFewest = 8;  // values that a slope is told by
constexpr int kMostRounds = 20;
constexpr double kSigmas = 3;       // a value farther off is left out of the next round
constexpr double kSlopeErrors = 4;  // a slope below so many of its errors is chance

std::vector<double> deviations(const Points& points, const RobustLine& line) {
  std::vector<double> all;
  all.reserve(points.size());
  for (const auto& [x, y] : points) all.push_back(y - line(x));
  return all;
}

void tell_residual(const Points& points, RobustLine& line) {
  std::vector<double> all = deviations(points, line);
  line.residual_max = 0;
  for (const double value : all) line.residual_max = std::max(line.residual_max, std::abs(value));
  line.residual = robust_sigma(std::move(all));
}

void set_level(const Points& points, RobustLine& line) {
  line.at_first = 0;
  line.at_first = median_of(deviations(points, line));
}

// By the slopes from each value to the one half of all values later.
double first_slope(const Points& points) {
  const std::size_t half = points.size() / 2;
  std::vector<double> slopes;
  for (std::size_t i = 0; i + half < points.size(); ++i)
    if (const double run = points[i + half].first - points[i].first; run > 0)
      slopes.push_back((points[i + half].second - points[i].second) / run);
  return median_of(std::move(slopes));
}

// Least squares of the values near the line; false where it stays as it is.
bool refine(const Points& points, RobustLine& line) {
  const double limit = kSigmas * std::max(line.residual, 1e-9);
  double count = 0, sum_x = 0, sum_y = 0, sum_xx = 0, sum_xy = 0, sum_rr = 0;
  for (const auto& [x, y] : points) {
    const double r = y - line(x), from_first = x - line.first_x;
    if (std::abs(r) > limit) continue;
    count += 1, sum_x += from_first, sum_y += r, sum_xx += from_first * from_first, sum_xy += from_first * r, sum_rr += r * r;
  }
  const double spread = count > 2 ? sum_xx - sum_x * sum_x / count : 0;
  if (spread <= 0) return false;
  const double slope = (sum_xy - sum_x * sum_y / count) / spread;
  const double level = (sum_y - slope * sum_x) / count;
  line.slope_error = std::sqrt(std::max(0.0, sum_rr - level * sum_y - slope * sum_xy) / (count - 2) / spread);
  line.slope += slope;
  line.at_first += level;
  const double before = line.residual;
  tell_residual(points, line);
  return std::abs(line.residual - before) > 1e-6 * before;
}

}  // namespace

RobustLine robust_line(const Points& points) {
  RobustLine line;
  line.values = points.size();
  line.first_x = points.front().first;
  if (points.size() >= kFewest) {
    line.slope = first_slope(points);
    set_level(points, line);
    tell_residual(points, line);
    for (int round = 0; round < kMostRounds && refine(points, line); ++round) {
    }
    if (std::abs(line.slope) >= kSlopeErrors * line.slope_error) return line;
    line.slope = 0;
  }
  set_level(points, line);
  tell_residual(points, line);
  return line;
}

}  // namespace nl::analysis
