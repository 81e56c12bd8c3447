#include "analysis/counters/ncu_bound.h"

#include "tests/catch.h"

TEST_CASE("a bound is named with the points that decide it") {
  const auto bound = [](double sm, double memory) { return nl::analysis::classify_bound(sm, memory); };
  CHECK(bound(20, 90).by == nl::Bound::kMemory);
  CHECK(bound(20, 90).margin == 30);     // 60 % is what it would have to fall to
  CHECK(bound(80, 90).margin == 5);      // the other side would have to come within 5 points
  CHECK(bound(75, 61).by == nl::Bound::kCompute);
  CHECK(bound(75, 61).margin == 9);
  CHECK(bound(60, 10).margin == 0);      // as close a call as there is
  CHECK(bound(10, 59).by == nl::Bound::kLatency);
  CHECK(bound(10, 59).margin == 1);
  CHECK_FALSE(bound(90, 88).by);
  CHECK_FALSE(bound(90, 88).margin);
  CHECK_FALSE(nl::analysis::classify_bound({}, 90).by);
  CHECK_FALSE(nl::analysis::classify_bound(90, {}).margin);
  CHECK(nl::analysis::bound_by(20, 90) == nl::Bound::kMemory);
}
