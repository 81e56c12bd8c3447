#include "analysis/statistics/quantile.h"

#include <boost/math/distributions/binomial.hpp>

#include <algorithm>
#include <cmath>

namespace nl::analysis {
namespace {

constexpr double kTail = 0.025;

namespace policies = boost::math::policies;
using Binomial = boost::math::binomial_distribution<double, policies::policy<policies::promote_double<false>>>;  // a double is enough

// The largest number of hits that is reached or undercut with at most the tail's chance; −1: none.
double lower_tail(double count, double share) {
  const double spread = std::sqrt(count * share * (1 - share));
  double most = std::max(-1.0, std::floor(count * share - 4 * spread) - 2);
  while (most + 1 < count && cdf(Binomial(count, share), most + 1) <= kTail) ++most;
  return most;
}

}  // namespace

double nearest_rank(std::span<const double> sorted, double share) {
  if (sorted.empty()) return 0;
  // 0.99 · 200 is a little above 198 in binary: a rank is whole within rounding.
  const double rank = std::ceil(static_cast<double>(sorted.size()) * share - 1e-9);
  return sorted[std::min(sorted.size(), static_cast<std::size_t>(std::max(rank, 1.0))) - 1];
}

double linear_quantile(std::span<const double> sorted, double share) {
  if (sorted.empty()) return 0;
  const double place = static_cast<double>(sorted.size() - 1) * share;
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (sorted[above] - sorted[below]) * (place - static_cast<double>(below));
}

double weighted_quantile(std::span<const std::pair<double, double>> sorted, double share) {
  double all = 0, sum = 0;
  for (const auto& [value, weight] : sorted) all += weight;
  for (const auto& [value, weight] : sorted) {
    sum += weight;
    if (weight > 0 && sum >= all * share * (1 - 1e-12)) return value;
  }
  return sorted.empty() ? 0 : sorted.back().first;
}

std::optional<Interval> quantile_interval(std::span<const double> sorted, double share, double independent) {
  const double count = std::floor(std::min(independent, static_cast<double>(sorted.size())));
  if (count < 2) return std::nullopt;
  // Below the quantile lie a binomial number of values: its tails are the ranks of the ends.
  const double low = lower_tail(count, share) + 1, high = count - lower_tail(count, 1 - share);
  if (low < 1 || high > count) return std::nullopt;
  const auto at = [&](double rank) {
    const double place = std::clamp(std::round(rank / count * static_cast<double>(sorted.size())), 1.0, static_cast<double>(sorted.size()));
    return sorted[static_cast<std::size_t>(place) - 1];
  };
  return Interval{at(low), at(high)};
}

}  // namespace nl::analysis
