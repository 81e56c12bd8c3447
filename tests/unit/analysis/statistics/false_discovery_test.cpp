#include "analysis/statistics/confidence.h"

#include <limits>
#include <vector>

#include "tests/catch.h"

using nl::analysis::q_values;

TEST_CASE("q-values are those of Benjamini and Hochberg") {
  // R: p.adjust(c(0.01, 0.04, 0.03, 0.005, 0.55), "BH")
  const std::vector<double> q = q_values({0.01, 0.04, 0.03, 0.005, 0.55});
  const std::vector<double> expected = {0.025, 0.05, 0.05, 0.025, 0.55};
  REQUIRE(q.size() == 5);
  for (std::size_t i = 0; i < 5; ++i) CHECK(q[i] == Approx(expected[i]));
}

TEST_CASE("a single p-value is its own q-value, and what is no number is never significant") {
  CHECK(q_values({0.03}) == std::vector<double>{0.03});
  CHECK(q_values({}).empty());
  const std::vector<double> q = q_values({std::numeric_limits<double>::quiet_NaN(), 0.01});
  CHECK(q[0] == 1);
  CHECK(q[1] == Approx(0.02));
}
