#include "analysis/statistics/robust_line.h"

#include <random>

#include "tests/catch.h"

using nl::analysis::robust_line;
using nl::analysis::RobustLine;

namespace {

using Points = std::vector<std::pair<double, double>>;

// y = 1000 + slope × x with noise of sigma 5; every n-th is off by a lot.
Points noisy(double slope, int values, int every, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> noise(0, 5);
  Points points;
  for (int i = 0; i < values; ++i)
    points.emplace_back(i * 10.0, 1000 + slope * i * 10.0 + noise(random) + (every > 0 && i % every == 0 ? 5000 : 0));
  return points;
}

}  // namespace

TEST_CASE("A line goes through values of which a fifth is far off", "[statistics]") {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    const RobustLine line = robust_line(noisy(0.5, 400, 5, seed));
    INFO("seed " << seed);
    CHECK(std::abs(line.slope - 0.5) < 5 * line.slope_error);
    CHECK(line.slope_error < 0.001);
    CHECK(std::abs(line(2000) - 2000) < 3);
    CHECK(line.residual > 4);  // 5, and the fifth that is off
    CHECK(line.residual < 9);
    CHECK(line.residual_max > 4900);
  }
}

TEST_CASE("A slope that is chance is none", "[statistics]") {
  int slopes = 0;
  for (unsigned seed = 1; seed <= 100; ++seed) slopes += robust_line(noisy(0, 50, 0, seed)).slope != 0 ? 1 : 0;
  CHECK(slopes <= 3);  // 4 sigma is 1 in 15,000; the values that were left out make sigma a little small
}

TEST_CASE("Few values have a level and no slope", "[statistics]") {
  const RobustLine line = robust_line({{0, 10}, {1, 20}, {2, 60}});
  CHECK(line.slope == 0);
  CHECK(line(1) == 20);
  CHECK(line.residual_max == 40);
  CHECK(robust_line({{5, 7}})(100) == 7);
}

TEST_CASE("Values that are exactly on a line have its slope", "[statistics]") {
  Points points;
  for (int i = 0; i < 100; ++i) points.emplace_back(i * 1e6, 137e6 + 40e-6 * i * 1e6);
  const RobustLine line = robust_line(points);
  CHECK(std::abs(line.slope - 40e-6) < 1e-12);
  CHECK(std::abs(line.at_first - 137e6) < 1e-3);
}
