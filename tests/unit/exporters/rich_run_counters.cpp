// What CUPTI alone brings to the rich run: counters and samples of stages, curves over time, the clocks' error.
#include <optional>
#include <tuple>

#include "tests/unit/exporters/sample_parts.h"

namespace nl::test {

void add_counters(Run& run) {
  const auto counted = [](double duration_ns, double read_bytes, double write_bytes, double sm, double tensor) {
    StageCounters out;
    out.measured_by = Meter::kCupti;
    out.windows = 3;
    out.duration_ns = duration_ns;
    out.values[Metric::kDramRead] = read_bytes;
    out.values[Metric::kDramWritten] = write_bytes;
    out.values[Metric::kL2Bytes] = 1.4 * (read_bytes + write_bytes);
    out.values[Metric::kDram] = 100 * (read_bytes + write_bytes) / (duration_ns * 4800);
    out.values[Metric::kSmActive] = sm;
    out.values[Metric::kTensor] = tensor;
    out.values[Metric::kOccupancy] = 24.5;
    out.metrics = {{"dram__bytes_read.sum", read_bytes}, {"dram__bytes_write.sum", write_bytes}, {"gpu__time_duration.sum", duration_ns}};
    return out;
  };
  const auto sampled = [](std::uint64_t samples, double sm, double tensor, double dram) {
    StageSampling out;
    out.samples = samples;
    out.values[Metric::kSmActive] = sm;
    out.values[Metric::kTensor] = tensor;
    out.values[Metric::kDram] = dram;
    out.values[Metric::kDramRead] = dram * 46e9;
    out.values[Metric::kDramWritten] = dram * 2e9;
    return out;
  };
  run.stages[0].counters = counted(4774000, 2.38e8, 2.1e7, 9.8, 14.2);
  run.stages[0].sampling = sampled(29, 9.6, 1.3, 1.1);
  run.stages[1].counters = counted(33921000, 1.71e9, 6.2e7, 8.9, 4.1);
  run.stages[1].sampling = sampled(204, 8.7, 0.4, 1.1);
  run.stages[2].counters.emplace();
  run.stages[2].counters->measured_by = Meter::kCupti;
  run.stages[2].counters->note = "no window of its own was measured: a range inside another stage's counts with that one";
  run.stages[2].sampling = sampled(203, 8.8, 0.4, 1.1);
  // 300 values over the iterations; the samples of one step were lost.
  for (const auto& [metric, title, scale] :
       {std::tuple{"sm__cycles_active.avg.pct_of_peak_sustained_elapsed", "SM active", 1.0},
        std::tuple{"sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed", "tensor pipe active", 0.125},
        std::tuple{"gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed", "DRAM throughput", 0.25}}) {
    ActivityCurve curve{0, metric, title, 995000000, 8400000, {}};
    for (int i = 0; i < 300; ++i) curve.values.push_back(i == 200 ? std::nullopt : std::optional((i < 285 ? i % 9 : 8 + i % 12) * scale));
    run.activity.push_back(std::move(curve));
  }
  run.clock = {1180, 1180, 940, 0, "decode_step", run.stages[2].wall.median_ns, 1180 / run.stages[2].wall.median_ns};
}

}  // namespace nl::test
