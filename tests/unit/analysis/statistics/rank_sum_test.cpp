#include "analysis/statistics/rank_sum.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "analysis/statistics/difference.h"
#include "tests/catch.h"
#include "tests/unit/analysis/statistics/simulated_noise.h"

using namespace nl::analysis;
using namespace nl::test;

namespace {

std::vector<double> distinct_values(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<double> values;
  for (std::size_t i = 0; i < count; ++i) values.push_back(static_cast<double>(random()) / 4294967296.0);
  return values;
}

}  // namespace

// The critical values of Mann and Whitney's U for a two-sided 5 %, as textbooks print them.
TEST_CASE("rank sum: as many differences are left out as the tables say") {
  struct Row {
    std::size_t m, n;
    int critical;
  };
  for (const Row& row : {Row{4, 4, 0}, {5, 5, 2}, {5, 8, 6}, {8, 8, 13}, {10, 10, 23}, {12, 15, 49}, {20, 20, 127}}) {
    const std::vector<double> a = distinct_values(row.m, 1), b = distinct_values(row.n, 2);
    const auto interval = rank_sum_interval(a, b, 0.95);
    REQUIRE(interval);
    int below = 0, above = 0;
    for (const double x : a)
      for (const double y : b) {
        below += y - x < interval->low;
        above += y - x > interval->high;
      }
    INFO(row.m << " and " << row.n);
    CHECK(below == row.critical);
    CHECK(above == row.critical);
  }
  CHECK_FALSE(rank_sum_interval({1, 2, 3}, {4, 5, 6}, 0.95));
}

TEST_CASE("rank sum: more than twenty values a side have the normal distribution's interval") {
  const std::vector<double> a = distinct_values(21, 3), b = distinct_values(21, 4);
  const auto interval = rank_sum_interval(a, b, 0.95);
  REQUIRE(interval);
  int below = 0;
  for (const double x : a)
    for (const double y : b) below += y - x < interval->low;
  CHECK(below == 142);  // as the tables have it
}

TEST_CASE("rank sum: two sides apart are as likely as one order of all") {
  CHECK(rank_sum_p({1, 2, 3, 4, 5}, {6, 7, 8, 9, 10}, 0) == Approx(2.0 / 252));
  CHECK(rank_sum_p({1, 2, 3, 4, 5}, {6, 7, 8, 9, 10}, 5) == Approx(1));
  CHECK(rank_sum_p({1, 1, 1}, {1, 1, 1}, 0) == 1);
}

TEST_CASE("rank sum: exchanged sides give the mirror") {
  const std::vector<double> a = distinct_values(9, 5), b = distinct_values(9, 6);
  const auto one = rank_sum_interval(a, b, 0.9), other = rank_sum_interval(b, a, 0.9);
  CHECK(one->low == -other->high);
  CHECK(one->high == -other->low);
}

// Pairs alone find it in 60 of 100: each disturbed run spoils a pair.
TEST_CASE("difference: ten pairs find a change of 10 % although one run in ten is disturbed") {
  int found = 0;
  std::mt19937_64 random(8);
  for (int i = 0; i < 200; ++i) {
    const auto effect = effect_of(two_sides(noisy_runs(Noise::kOutliers, 20, random), Turns::kPairs, std::log(1.1), random), {});
    found += decision_of(effect->interval(0.95), std::log1p(0.01)) == Decision::kMore;
  }
  CHECK(found >= 160);  // 87 %, less two standard deviations
}

TEST_CASE("difference: pairs that have a drift in common stay pairs") {
  std::mt19937_64 random(9);
  int pairs = 0;
  for (int i = 0; i < 100; ++i)
    pairs += effect_of(two_sides(noisy_runs(Noise::kWalk, 20, random), Turns::kPairs, 0, random), {})->a.empty();
  CHECK(pairs >= 65);  // the trend of a walk is taken out before
}
