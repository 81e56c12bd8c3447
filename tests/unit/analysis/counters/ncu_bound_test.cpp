#include "analysis/counters/ncu_bound.h"

#include <map>
#include <string>

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

TEST_CASE("which memory binds a kernel: the busiest") {
  const std::string whole = "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed";
  const std::string dram = "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed", l2 = "lts__throughput.avg.pct_of_peak_sustained_elapsed";
  const std::string l1 = "l1tex__throughput.avg.pct_of_peak_sustained_active";
  using Metrics = std::map<std::string, double>;
  const auto which = [](const Metrics& metrics) { return nl::analysis::busiest_memory(metrics); };
  CHECK(which(Metrics{{whole, 85}, {dram, 8}, {l2, 40}, {l1, 85}}) == nl::MemoryLevel::kL1);
  CHECK(which(Metrics{{whole, 85}, {dram, 8}, {l2, 84}, {l1, 30}}) == nl::MemoryLevel::kL2);
  CHECK(which(Metrics{{whole, 92}, {dram, 91}, {l2, 50}, {l1, 30}}) == nl::MemoryLevel::kDram);
  // Two of a level that are close: the farther one, which the other waits for.
  CHECK(which(Metrics{{whole, 92}, {dram, 91}, {l2, 92}}) == nl::MemoryLevel::kDram);
  // None that was measured explains the whole: not known.
  CHECK_FALSE(which(Metrics{{whole, 85}, {dram, 8}}));
  CHECK_FALSE(which(Metrics{{whole, 85}}));
  CHECK(which(Metrics{{dram, 70}, {l2, 30}}) == nl::MemoryLevel::kDram);
  CHECK_FALSE(which(Metrics{}));
}
