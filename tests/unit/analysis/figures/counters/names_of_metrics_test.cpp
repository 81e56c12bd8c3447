#include "analysis/figures/counters/metric_values.h"

#include "tests/catch.h"

using namespace nl;
using namespace nl::analysis;

TEST_CASE("the first metric that was measured, in the order asked for") {
  const Metrics metrics = {{"a", 1}, {"b", 2}, {"c", 0}};
  CHECK(first_metric(metrics, {"x", "b", "a"}) == 2.0);
  CHECK(first_metric(metrics, {"c", "a"}) == 0.0);  // measured as zero
  CHECK_FALSE(first_metric(metrics, {"x"}));
}

TEST_CASE("percentages of active cycles are told by their names") {
  CHECK(of_active_cycles("sm__warps_active.avg.pct_of_peak_sustained_active"));
  CHECK(of_active_cycles("sm__inst_executed.avg.per_cycle_active"));
  CHECK_FALSE(of_active_cycles("sm__cycles_active.avg.pct_of_peak_sustained_elapsed"));
  CHECK_FALSE(of_active_cycles("sm__cycles_active.avg"));
}

TEST_CASE("DRAM bytes are those of both directions, or their sum where it was measured itself") {
  CHECK(dram_bytes_of({{"dram__bytes_read.sum", 30}, {"dram__bytes_write.sum", 4}, {"dram__bytes.sum", 100}}) == 34.0);
  CHECK(dram_bytes_of({{"dram__bytes_read.sum", 30}, {"dram__bytes.sum", 100}}) == 100.0);
  CHECK(dram_bytes_of({{"dram__bytes_write.sum", 4}, {"dram__bytes.sum", 100}}) == 100.0);
  CHECK_FALSE(dram_bytes_of({{"dram__bytes_read.sum", 30}}));
  CHECK(metric_values(MetricPlace::kLaunch, {{"dram__bytes_read.sum", 30}, {"dram__bytes_write.sum", 4}})[Metric::kDramBytes] == 34.0);
  CHECK_FALSE(metric_values(MetricPlace::kStage, {{"dram__bytes_read.sum", 30}, {"dram__bytes_write.sum", 4}})[Metric::kDramBytes]);
}

TEST_CASE("active SMs by cycles, where one pass had no room for the percentage") {
  const auto active = [](const Metrics& metrics) { return metric_values(MetricPlace::kStage, metrics)[Metric::kSmActive]; };
  CHECK(active({{"sm__cycles_active.avg", 30}, {"sm__cycles_elapsed.avg", 40}, {"gpc__cycles_elapsed.max", 60}}) == 75.0);
  CHECK(active({{"sm__cycles_active.avg", 30}, {"sm__cycles_elapsed.max", 50}, {"gpc__cycles_elapsed.max", 60}}) == 60.0);
  CHECK(active({{"sm__cycles_active.avg", 30}, {"gpc__cycles_elapsed.max", 60}}) == 50.0);
  CHECK_FALSE(active({{"sm__cycles_active.avg", 30}, {"sm__cycles_elapsed.avg", 0}}));
  CHECK_FALSE(active({{"sm__cycles_active.avg", 30}}));
  CHECK_FALSE(active({{"sm__cycles_elapsed.avg", 30}}));
  CHECK(active(
            {{"sm__cycles_active.avg", 30}, {"sm__cycles_elapsed.avg", 40}, {"sm__cycles_active.avg.pct_of_peak_sustained_elapsed", 80}}) ==
        80.0);
  CHECK_FALSE(metric_values(MetricPlace::kSampled, {{"sm__cycles_active.avg", 30}, {"sm__cycles_elapsed.avg", 40}})[Metric::kSmActive]);
}

TEST_CASE("of several counters of one metric the first that was measured is taken") {
  const char* const tensor[] = {"sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active",
                                "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed",
                                "sm__inst_executed_pipe_tensor.avg.pct_of_peak_sustained_active"};
  Metrics metrics = {{tensor[2], 3}};
  CHECK(metric_values(MetricPlace::kLaunch, metrics)[Metric::kTensor] == 3.0);
  metrics[tensor[1]] = 2;
  CHECK(metric_values(MetricPlace::kLaunch, metrics)[Metric::kTensor] == 2.0);
  metrics[tensor[0]] = 1;
  CHECK(metric_values(MetricPlace::kLaunch, metrics)[Metric::kTensor] == 1.0);
}
