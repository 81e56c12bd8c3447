#include "analysis/statistics/false_discovery.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

namespace nl::analysis {

std::vector<double> q_values(std::vector<double> p_values) {
  for (double& p : p_values)
    if (!std::isfinite(p)) p = 1;
  std::vector<std::size_t> order(p_values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return p_values[a] > p_values[b]; });
  std::vector<double> q(p_values.size());
  const auto count = static_cast<double>(order.size());
  double least = 1;
  for (std::size_t i = 0; i < order.size(); ++i) {  // from the largest: its rank is all of them
    least = std::min(least, p_values[order[i]] * count / (count - static_cast<double>(i)));
    q[order[i]] = least;
  }
  return q;
}

}  // namespace nl::analysis
