#include "analysis/statistics/confidence.h"

#include <algorithm>
#include <cmath>
#include <numbers>

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

// P(|T| < t), with t = √df · tan(angle): the density becomes a power of the cosine, over a finite span.
double central_probability(double angle, double df) {
  if (df > 200) {  // the power of the cosine is too narrow for the pieces below; the normal distribution is within 1e-6 there
    const double t = std::sqrt(df) * std::tan(angle);
    return std::erf(t * (1 - 1 / (4 * df)) / std::sqrt(1 + t * t / (2 * df)) / std::numbers::sqrt2);
  }
  const double scale = 2 / std::sqrt(std::numbers::pi) * std::exp(std::lgamma((df + 1) / 2) - std::lgamma(df / 2));
  constexpr int kPieces = 512;  // Simpson's rule; even
  const double step = angle / kPieces;
  double sum = 0;
  for (int i = 0; i <= kPieces; ++i) sum += std::pow(std::cos(i * step), df - 1) * (i == 0 || i == kPieces ? 1 : i % 2 == 1 ? 4 : 2);
  return scale * sum * step / 3;
}

Interval around(double centre, double standard_error, double df) {
  const double reach = standard_error > 0 ? standard_error * student_t(kConfidence, df) : 0;
  return {centre - reach, centre + reach};
}

}  // namespace

double student_t(double confidence, double degrees_of_freedom) {
  double low = 0, high = std::numbers::pi / 2;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (central_probability(middle, degrees_of_freedom) < confidence ? low : high) = middle;
  }
  return std::sqrt(degrees_of_freedom) * std::tan((low + high) / 2);
}

double student_p(double t, double degrees_of_freedom) {
  const double angle = std::atan(std::abs(t) / std::sqrt(degrees_of_freedom));
  return std::clamp(1 - central_probability(angle, degrees_of_freedom), 0.0, 1.0);
}

std::optional<Interval> difference_95(const std::vector<double>& a, const std::vector<double>& b) {
  if (a.size() < 2 || b.size() < 2) return std::nullopt;
  const Moments of_a = moments(a), of_b = moments(b);
  const double part_a = of_a.variance / static_cast<double>(a.size());
  const double part_b = of_b.variance / static_cast<double>(b.size());
  const double sum = part_a + part_b;
  const double df = sum * sum / (part_a * part_a / static_cast<double>(a.size() - 1) + part_b * part_b / static_cast<double>(b.size() - 1));
  return around(of_b.mean - of_a.mean, std::sqrt(sum), df);
}

std::optional<Interval> difference_95(const std::vector<double>& a, double b) {
  if (a.size() < 2) return std::nullopt;
  const Moments of_a = moments(a);
  const auto count = static_cast<double>(a.size());
  return around(b - of_a.mean, std::sqrt(of_a.variance * (1 + 1 / count)), count - 1);
}

}  // namespace nl::analysis
