#include "analysis/statistics/bootstrap.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "tests/catch.h"

using namespace nl::analysis;

TEST_CASE("the median of an even count is the mean of the two middle values") {
  CHECK(median_of({3, 1, 2}) == 2);
  CHECK(median_of({4, 1, 3, 2}) == 2.5);
  CHECK(median_of({7}) == 7);
  CHECK(median_of({}) == 0);
}

TEST_CASE("the same seed draws the same samples, another one others") {
  const std::vector<double> values = {1, 2, 4, 8, 16, 32, 64};
  CHECK(bootstrap_medians(values, 1, 50, 3) == bootstrap_medians(values, 1, 50, 3));
  CHECK(bootstrap_medians(values, 1, 50, 3) != bootstrap_medians(values, 1, 50, 4));
  for (const double median : bootstrap_medians(values, 1, 200, 3)) CHECK(std::count(values.begin(), values.end(), median) == 1);
  CHECK(bootstrap_medians({}, 1, 50, 3).empty());
}

TEST_CASE("a block as long as the series only turns it, and a median does not care") {
  const std::vector<double> values = {5, 1, 9, 3, 7};
  for (const double median : bootstrap_medians(values, 5, 20, 1)) CHECK(median == 5);
  for (const double median : bootstrap_medians(values, 99, 20, 1)) CHECK(median == 5);
}

TEST_CASE("blocks keep runs of equal values together, so that the medians scatter more") {
  std::vector<double> values;
  for (int i = 0; i < 200; ++i) values.push_back(i / 50 % 2 == 0 ? 100 + i % 7 : 110 + i % 7);  // two levels, 50 at a time
  const Interval alone = percentile_interval(bootstrap_medians(values, 1, 1000, 1), 0.025);
  const Interval together = percentile_interval(bootstrap_medians(values, 50, 1000, 1), 0.025);
  CHECK(together.high - together.low > 1.3 * (alone.high - alone.low));
}

TEST_CASE("differences of two sides are the mirror of those of the sides exchanged") {
  const std::vector<double> a = bootstrap_medians(std::vector<double>{1, 2, 3.5, 7, 8}, 1, 101, 5);
  const std::vector<double> b = bootstrap_medians(std::vector<double>{2, 3, 3.25, 9}, 1, 101, 5);
  const Interval there = percentile_interval(paired_differences(a, b), 0.025);
  const Interval back = percentile_interval(paired_differences(b, a), 0.025);
  CHECK(there.low == -back.high);
  CHECK(there.high == -back.low);
  const Interval self = percentile_interval(paired_differences(a, a), 0.025);
  CHECK(self.low == -self.high);
}

TEST_CASE("percentiles cut as much from below as from above") {
  std::vector<double> values;
  for (int i = 99; i >= 0; --i) values.push_back(i);
  CHECK(percentile_interval(values, 0.025).low == 2);  // two of a hundred lie below
  CHECK(percentile_interval(values, 0.025).high == 97);
  CHECK(percentile_interval(values, 0).low == 0);
  CHECK(percentile_interval(values, 0).high == 99);
  CHECK(percentile_interval({4}, 0.025).low == 4);
}

TEST_CASE("the tail of few values is smaller than that of many") {
  // Hesterberg 2015, table 5: n = 5: 0.00096, n = 10: 0.0086 (one-sided 0.025)
  CHECK(tail_95(5) == Approx(0.00096).margin(0.00002));
  CHECK(tail_95(10) == Approx(0.0086).margin(0.0001));
  CHECK(tail_95(1e6) == Approx(0.025).margin(0.00001));
  CHECK(tail_95(1) == 0);
}
