#include "analysis/figures/counters/metric_values.h"

#include <map>
#include <string>

#include "tests/catch.h"

TEST_CASE("a bound is named with the points that decide it") {
  const auto bound = [](double sm, double memory) { return nl::analysis::classify_bound(sm, memory); };
  CHECK(bound(20, 90).by == nl::Bound::kMemory);
  CHECK(bound(20, 90).margin == 30);  // 60 % is what it would have to fall to
  CHECK(bound(80, 90).margin == 5);   // the other side would have to come within 5 points
  CHECK(bound(75, 61).by == nl::Bound::kCompute);
  CHECK(bound(75, 61).margin == 9);
  CHECK(bound(60, 10).margin == 0);  // as close a call as there is
  CHECK(bound(10, 59).by == nl::Bound::kLatency);
  CHECK(bound(10, 59).margin == 1);
  CHECK_FALSE(bound(90, 88).by);
  CHECK_FALSE(bound(90, 88).margin);
  CHECK_FALSE(nl::analysis::classify_bound({}, 90).by);
  CHECK_FALSE(nl::analysis::classify_bound(90, {}).margin);
  CHECK(nl::analysis::classify_bound(20, 90).by == nl::Bound::kMemory);
}

TEST_CASE("which memory binds a kernel: the busiest") {
  const std::string whole = "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed";
  const std::string dram = "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed",
                    l2 = "lts__throughput.avg.pct_of_peak_sustained_elapsed";
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
  CHECK_FALSE(which(Metrics{{whole, 3}}));  // what was not measured is not as busy as little
  CHECK(which(Metrics{{whole, 85}, {dram, 80}}) == nl::MemoryLevel::kDram);
  CHECK_FALSE(which(Metrics{{whole, 85}, {dram, 79.9}}));
  CHECK(which(Metrics{{whole, 85}, {"dram__throughput.avg.pct_of_peak_sustained_elapsed", 85}}) == nl::MemoryLevel::kDram);
  CHECK(which(Metrics{{whole, 85}, {"l1tex__throughput.avg.pct_of_peak_sustained_elapsed", 85}}) == nl::MemoryLevel::kL1);
}

TEST_CASE("memory that was measured in place counts besides what the replays saw") {
  const std::string whole = "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed";
  nl::NcuSample sample;
  sample.metrics = {{whole, 30}};
  sample.values[nl::Metric::kDram] = 90;
  CHECK(nl::analysis::memory_throughput(sample) == 30.0);  // ncu's own DRAM % is part of the whole
  CHECK(nl::analysis::busiest_memory(sample) == nl::MemoryLevel::kDram);
  sample.measured_by = nl::Meter::kCupti;
  CHECK(nl::analysis::memory_throughput(sample) == 90.0);
  sample.metrics[whole] = 95;
  CHECK(nl::analysis::memory_throughput(sample) == 95.0);
  CHECK(nl::analysis::busiest_memory(sample) == nl::MemoryLevel::kDram);  // within five points
  sample.metrics[whole] = 96;
  CHECK_FALSE(nl::analysis::busiest_memory(sample));
  sample.values[nl::Metric::kDram].reset();
  CHECK(nl::analysis::memory_throughput(sample) == 96.0);
  CHECK_FALSE(nl::analysis::busiest_memory(sample));
  sample.metrics[whole] = 2;
  CHECK_FALSE(nl::analysis::busiest_memory(sample));
  CHECK_FALSE(nl::analysis::memory_throughput(nl::NcuSample{}));
}

TEST_CASE("DRAM bytes of a launch: as counted, or its rate over its time") {
  nl::NcuSample sample;
  CHECK_FALSE(nl::analysis::dram_bytes(sample));
  sample.metrics["dram__bytes.sum.per_second"] = 2e9;
  CHECK_FALSE(nl::analysis::dram_bytes(sample));
  sample.ncu_duration_ns = 500;
  CHECK(*nl::analysis::dram_bytes(sample) == Approx(1000));  // rounding
  sample.values[nl::Metric::kDramBytes] = 7;
  CHECK(nl::analysis::dram_bytes(sample) == 7.0);
}
