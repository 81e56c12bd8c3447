#include "analysis/statistics/rank_sum.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>

namespace nl::analysis {
namespace {

constexpr std::size_t kMostCounted = 20;  // values a side: all orders of them are counted exactly in a double

// By how many differences lie below zero: in how many orders of the values. The coefficients of the Gaussian binomial.
std::vector<double> orders_by_sum(std::size_t m, std::size_t n) {
  std::vector<double> orders(m * n + 1, 0.0);
  orders[0] = 1;
  for (std::size_t i = 1; i <= m; ++i) {
    for (std::size_t sum = orders.size(); sum-- > n + i;) orders[sum] -= orders[sum - n - i];
    for (std::size_t sum = i; sum < orders.size(); ++sum) orders[sum] += orders[sum - i];
  }
  return orders;
}

// P(at most that many of the m · n differences lie below zero), if both sides are alike.
class AtMost {
 public:
  AtMost(std::size_t m, std::size_t n) : m_(static_cast<double>(m)), n_(static_cast<double>(n)) {
    if (std::max(m, n) > kMostCounted) return;
    below_ = orders_by_sum(m, n);
    for (std::size_t i = 1; i < below_.size(); ++i) below_[i] += below_[i - 1];
  }
  double operator()(double sum) const {
    if (sum < 0) return 0;
    if (!below_.empty()) return below_[std::min(below_.size() - 1, static_cast<std::size_t>(sum))] / below_.back();
    const double deviation = std::sqrt(m_ * n_ * (m_ + n_ + 1) / 12);
    return 0.5 * std::erfc(-(sum + 0.5 - m_ * n_ / 2) / deviation / std::numbers::sqrt2);
  }

 private:
  double m_, n_;
  std::vector<double> below_;
};

std::vector<double> differences_of(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> differences;
  for (const double of_a : a)
    for (const double of_b : b) differences.push_back(of_b - of_a);
  return differences;
}

}  // namespace

std::optional<Interval> rank_sum_interval(const std::vector<double>& a, const std::vector<double>& b, double confidence) {
  std::vector<double> differences = differences_of(a, b);
  const AtMost at_most(a.size(), b.size());
  const double tail = (1 - confidence) / 2;
  std::size_t cut = 0;  // so many of the smallest lie below the interval
  while (2 * cut + 1 < differences.size() && at_most(static_cast<double>(cut)) <= tail) ++cut;
  if (cut == 0) return std::nullopt;
  std::sort(differences.begin(), differences.end());
  return Interval{differences[cut - 1], differences[differences.size() - cut]};
}

double rank_sum_p(const std::vector<double>& a, const std::vector<double>& b, double shift) {
  double below = 0, above = 0;
  for (const double difference : differences_of(a, b)) {
    below += difference < shift ? 1 : difference == shift ? 0.5 : 0;
    above += difference > shift ? 1 : difference == shift ? 0.5 : 0;
  }
  return std::min(1.0, 2 * AtMost(a.size(), b.size())(std::min(below, above)));
}

}  // namespace nl::analysis
