#include "analysis/statistics/confidence.h"

#include <boost/math/distributions/students_t.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

namespace nl::analysis {
namespace {

constexpr double kConfidence = 0.95;

struct Moments {
  double mean = 0;
  double variance = 0;  // n − 1
};

Moments moments(const std::vector<double>& values) {
  Moments result;
  for (const double value : values) result.mean += value;
  result.mean /= static_cast<double>(values.size());
  for (const double value : values) result.variance += (value - result.mean) * (value - result.mean);
  result.variance /= static_cast<double>(values.size() - 1);
  return result;
}

namespace policies = boost::math::policies;
// Where there is no such distribution (no degrees of freedom) the answer is not a number; Boost would throw. A double is enough.
using Quiet = policies::policy<policies::domain_error<policies::ignore_error>, policies::overflow_error<policies::ignore_error>,
                               policies::promote_double<false>>;
using StudentsT = boost::math::students_t_distribution<double, Quiet>;

Interval around(double centre, double standard_error, double df, double confidence = kConfidence) {
  const double reach = standard_error > 0 ? standard_error * student_t(confidence, df) : 0;
  return {centre - reach, centre + reach};
}

}  // namespace

double student_t(double confidence, double degrees_of_freedom) {
  return quantile(complement(StudentsT(degrees_of_freedom), (1 - confidence) / 2));
}

double student_p(double t, double degrees_of_freedom) { return 2 * cdf(complement(StudentsT(degrees_of_freedom), std::abs(t))); }

std::optional<Interval> difference_interval(const std::vector<double>& a, const std::vector<double>& b, double confidence) {
  if (a.size() < 2 || b.size() < 2) return std::nullopt;
  const Moments of_a = moments(a), of_b = moments(b);
  const double part_a = of_a.variance / static_cast<double>(a.size());
  const double part_b = of_b.variance / static_cast<double>(b.size());
  const double sum = part_a + part_b;
  const double df = sum * sum / (part_a * part_a / static_cast<double>(a.size() - 1) + part_b * part_b / static_cast<double>(b.size() - 1));
  return around(of_b.mean - of_a.mean, std::sqrt(sum), df, confidence);
}

std::optional<Interval> difference_95(const std::vector<double>& a, const std::vector<double>& b) {
  return difference_interval(a, b, kConfidence);
}

std::optional<Interval> difference_95(const std::vector<double>& a, double b) {
  if (a.size() < 2) return std::nullopt;
  const Moments of_a = moments(a);
  const auto count = static_cast<double>(a.size());
  return around(b - of_a.mean, std::sqrt(of_a.variance * (1 + 1 / count)), count - 1);
}

Interval share_95(double hits, double all) {
  if (all <= 0) return {0, 1};
  constexpr double kNormal = 1.959963984540054;
  const double square = kNormal * kNormal, share = hits / all;
  const double centre = (share + square / (2 * all)) / (1 + square / all);
  const double reach = kNormal * std::sqrt(share * (1 - share) / all + square / (4 * all * all)) / (1 + square / all);
  return {std::max(0.0, centre - reach), std::min(1.0, centre + reach)};
}

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
