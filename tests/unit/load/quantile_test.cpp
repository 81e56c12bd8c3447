#include "analysis/statistics/quantile.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "model/draw.h"
#include "tests/catch.h"

using namespace nl;
using namespace nl::analysis;

namespace {

std::vector<double> one_to(std::size_t count) {
  std::vector<double> values;
  for (std::size_t i = 1; i <= count; ++i) values.push_back(static_cast<double>(i));
  return values;
}

double exponential(Draw& draw) { return -std::log((static_cast<double>(draw.bits() >> 11) + 1) * 0x1p-53); }

// How often the interval of a sample of exponential values holds the true quantile.
double coverage(std::size_t count, double share) {
  Draw draw(count);
  const double truth = -std::log1p(-share);
  int held = 0;
  for (int round = 0; round < 2000; ++round) {
    std::vector<double> values;
    for (std::size_t i = 0; i < count; ++i) values.push_back(exponential(draw));
    std::sort(values.begin(), values.end());
    const auto interval = quantile_interval(values, share, static_cast<double>(count));
    REQUIRE(interval.has_value());
    held += interval->low <= truth && truth <= interval->high ? 1 : 0;
  }
  return held / 2000.0;
}

}  // namespace

TEST_CASE("quantile: nearest rank, numpy's place, weights") {
  CHECK(nearest_rank(one_to(100), 0.99) == 99);
  CHECK(nearest_rank(one_to(200), 0.99) == 198);
  CHECK(nearest_rank(one_to(101), 0.99) == 100);
  CHECK(nearest_rank(one_to(20), 0.95) == 19);
  CHECK(nearest_rank(one_to(1), 0.5) == 1);
  CHECK(linear_quantile(one_to(4), 0.5) == 2.5);
  CHECK(linear_quantile(one_to(5), 0.99) == Approx(4.96));
  CHECK(linear_quantile(one_to(1), 0.99) == 1);
  CHECK(weighted_quantile(std::vector<std::pair<double, double>>{{1, 1}, {2, 1}, {3, 2}}, 0.5) == 2);
  CHECK(weighted_quantile(std::vector<std::pair<double, double>>{{1, 0}, {2, 1}, {3, 3}}, 0.2) == 2);
}

TEST_CASE("quantile intervals: the ranks of tables, and none where the values do not reach that far") {
  const auto median = quantile_interval(one_to(100), 0.5, 100);
  REQUIRE(median.has_value());
  CHECK(median->low == 40);  // P(at most 39 of 100 coins) = 0.018, of 40 = 0.028
  CHECK(median->high == 61);
  CHECK_FALSE(quantile_interval(one_to(367), 0.99, 367).has_value());  // 0.99^367 = 0.02501
  CHECK(quantile_interval(one_to(368), 0.99, 368)->high == 368);
  CHECK_FALSE(quantile_interval(one_to(5), 0.5, 5).has_value());
  CHECK(quantile_interval(one_to(6), 0.5, 6)->low == 1);
  // As many values that are worth a quarter are as uncertain as a quarter of them.
  const auto dependent = quantile_interval(one_to(400), 0.5, 100);
  CHECK(dependent->low == 160);
  CHECK(dependent->high == 244);
  CHECK(quantile_interval(one_to(1'000'000), 0.99, 1'000'000)->low < 990'000);
}

TEST_CASE("quantile intervals: they hold the truth in 95 of 100 samples") {
  // At least 95 %; discrete ranks give more. 2,000 samples scatter by 0.5 %: three of it.
  for (const auto& [count, share] : {std::pair(20, 0.5), std::pair(101, 0.5), std::pair(400, 0.99), std::pair(300, 0.9)}) {
    INFO(count << " " << share);
    CHECK(coverage(static_cast<std::size_t>(count), share) > 0.935);
  }
}
