#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace nl::analysis {

// y = at_first + slope × (x - first x), and how far the values are from it.
struct RobustLine {
  double first_x = 0, at_first = 0, slope = 0;
  double slope_error = 0;                 // 1 sigma
  double residual = 0, residual_max = 0;  // 1 sigma by the median, of all values; and the largest
  std::size_t values = 0;
  double operator()(double x) const { return at_first + slope * (x - first_x); }
};

// Through values of which up to a quarter may be far off. A slope below four of its errors is taken for none. `points`: by x, not empty.
RobustLine robust_line(const std::vector<std::pair<double, double>>& points);

}  // namespace nl::analysis
