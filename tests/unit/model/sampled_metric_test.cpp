#include "model/metric_series.h"

#include <limits>

#include "tests/catch.h"

using namespace nl;

TEST_CASE("counters of two stretches add up, percentages, rates and ratios do not") {
  for (const char* metric : {"dram__bytes_read.sum", "sm__cycles_active.avg", "a.max", "a.min"}) CHECK(adds_up(metric));
  for (const char* metric :
       {"sm__cycles_active.avg.pct_of_peak_sustained_elapsed", "dram__bytes_read.sum.per_second", "a.ratio", "sum", ""})
    CHECK_FALSE(adds_up(metric));
}

TEST_CASE("a sampled counter is shown as a rate, anything else as it is, and what was not measured not at all") {
  MetricSeries series;
  series.metrics = {"dram__bytes_read.sum", "sm__throughput.pct"};
  series.start_ns = {0, 1000, 3000};
  series.duration_ns = {1000, 2000, 0};
  series.values = {4, 50, 6, std::numeric_limits<float>::quiet_NaN(), 8, 60};
  const SampledMetric bytes(series.metrics[0]), share(series.metrics[1]);
  CHECK(bytes.name == "dram__bytes_read.sum.per_second");
  CHECK(share.name == "sm__throughput.pct");
  CHECK(bytes.value(series, 0, 0) == 4e6);
  CHECK(bytes.value(series, 1, 0) == 3e6);
  CHECK_FALSE(bytes.value(series, 2, 0));  // of no length
  CHECK(share.value(series, 0, 1) == 50);
  CHECK_FALSE(share.value(series, 1, 1));
  CHECK(share.value(series, 2, 1) == 60);
  series.values.pop_back();
  CHECK_FALSE(share.value(series, 2, 1));
  series.duration_ns.resize(1);
  CHECK_FALSE(bytes.value(series, 1, 0));
}
