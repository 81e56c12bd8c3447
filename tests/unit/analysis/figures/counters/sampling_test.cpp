#include "analysis/figures/counters/sampling.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "analysis/figures/efficiency/device_peaks.h"
#include "tests/catch.h"
#include "tests/unit/analysis/trace_builder.h"

using namespace nl;
using namespace nl::analysis;

namespace {

const char* const kSm = "sm__cycles_active.avg.pct_of_peak_sustained_elapsed";
const char* const kDramRead = "dram__bytes_read.sum";
const char* const kDramWritten = "dram__bytes_write.sum";
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

MetricSeries& series(Trace& trace, std::vector<std::string> metrics, std::int32_t device = 0) {
  MetricSeries& made = trace.metric_series.emplace_back();
  made.device = device;
  made.metrics = std::move(metrics);
  made.interval_ns = 1;
  return made;
}

void sample(MetricSeries& series, Ns start_ns, std::uint32_t duration_ns, std::initializer_list<float> values) {
  series.start_ns.push_back(start_ns);
  series.duration_ns.push_back(duration_ns);
  series.values.insert(series.values.end(), values);
}

// What a stage's mean is, nanosecond by nanosecond.
struct BruteForce {
  double sum = 0, rate_sum = 0;
  std::uint64_t weight = 0, samples = 0;
  BruteForce(const MetricSeries& series, const std::vector<bool>& inside) {
    for (std::size_t row = 0; row < series.start_ns.size(); ++row) {
      std::uint64_t part = 0;
      for (Ns at = series.start_ns[row]; at < series.start_ns[row] + series.duration_ns[row]; ++at)
        part += at >= 0 && at < static_cast<Ns>(inside.size()) && inside[static_cast<std::size_t>(at)];
      if (part == 0) continue;
      ++samples;
      weight += part;
      sum += static_cast<double>(part) * static_cast<double>(series.values[2 * row]);
      rate_sum += static_cast<double>(part) * static_cast<double>(series.values[2 * row + 1]) * 1e9 / series.duration_ns[row];
    }
  }
};

}  // namespace

TEST_CASE("a stage's mean weighs each sample by what of it lies in its windows, as counted nanosecond by nanosecond") {
  std::mt19937 random(4);
  std::size_t judged = 0;
  for (int round = 0; round < 200; ++round) {
    TraceBuilder builder;
    std::vector<bool> inside(2000);
    for (std::uint32_t thread : {0u, 1u})  // whose windows overlap each other's
      for (Ns at = static_cast<Ns>(random() % 300); at < 1900;) {
        const Ns end = at + 1 + static_cast<Ns>(random() % 90);
        builder.stage("prefill", at, end, thread);
        for (Ns t = at; t < end; ++t) inside[static_cast<std::size_t>(t)] = true;
        at = end + static_cast<Ns>(random() % 200);
      }
    MetricSeries& made = series(builder.trace, {kSm, kDramRead});
    for (Ns at = static_cast<Ns>(random() % 100) - 50; at < 2100; at += static_cast<Ns>(random() % 40))  // some overlap, some leave gaps
      sample(made, at, static_cast<std::uint32_t>(random() % 60),
             {static_cast<float>(random() % 100), static_cast<float>(random() % 1000)});
    const BruteForce expected(made, inside);
    const Run run = builder.run_all();
    const auto& sampling = stage(run, "prefill").sampling;
    REQUIRE(sampling.has_value() == (expected.weight > 0));
    if (!sampling) continue;
    ++judged;
    REQUIRE(sampling->samples == expected.samples);
    const auto weight = static_cast<double>(expected.weight);
    REQUIRE(*sampling->values[Metric::kSmActive] == expected.sum / weight);  // whole numbers: exact in any order
    REQUIRE(*sampling->values[Metric::kDramRead] == Approx(expected.rate_sum / weight).epsilon(1e-12));  // order of the sum
  }
  CHECK(judged > 190);
}

TEST_CASE("samples of warm-up windows do not count") {
  TraceBuilder builder;
  for (Ns at : {0, 100, 200}) builder.stage("prefill", at, at + 50);
  MetricSeries& made = series(builder.trace, {kSm});
  sample(made, 0, 50, {90});
  sample(made, 50, 50, {70});  // between two windows
  sample(made, 100, 50, {10});
  sample(made, 175, 50, {30});  // half of it inside
  SummaryOptions options;
  options.warmup.mode = WarmupRule::Mode::kCount;
  options.warmup.count = 1;
  const Run run = builder.run(options);
  REQUIRE(stage(run, "prefill").warmup_windows == 1);
  CHECK(stage(run, "prefill").sampling->samples == 2);
  CHECK(*stage(run, "prefill").sampling->values[Metric::kSmActive] == (50 * 10 + 25 * 30) / 75.0);
  CHECK(*stage(builder.run_all(), "prefill").sampling->values[Metric::kSmActive] == (50 * 90 + 50 * 10 + 25 * 30) / 125.0);
}

TEST_CASE("each stage has its own mean, the one inside another too") {
  TraceBuilder builder;
  builder.stage("decode_all", 0, 100);
  builder.stage("decode_step", 0, 50);
  builder.stage("idle_stage", 500, 600);
  MetricSeries& made = series(builder.trace, {kSm});
  sample(made, 0, 50, {80});
  sample(made, 50, 50, {20});
  const Run run = builder.run_all();
  CHECK(*stage(run, "decode").sampling->values[Metric::kSmActive] == 50);
  CHECK(*stage(run, "decode_step").sampling->values[Metric::kSmActive] == 80);
  CHECK_FALSE(stage(run, "idle_stage").sampling);  // not sampled is not zero
}

TEST_CASE("what was not measured is absent; DRAM % comes from the bytes where nothing else tells it") {
  TraceBuilder builder;
  builder.stage("prefill", 0, 100);
  MetricSeries& made = series(builder.trace, {kSm, kDramRead, kDramWritten, "sm__warps_active.avg.pct_of_peak_sustained_elapsed"});
  sample(made, 0, 50, {80, 1000, 500, kNaN});
  sample(made, 50, 50, {kNaN, 3000, 500, kNaN});
  builder.trace.devices.resize(1);
  builder.trace.devices[0].bandwidth_bytes_per_s = 100'000'000'000;  // 100 bytes a nanosecond
  Run run = builder.run_all();
  CHECK_FALSE(stage(run, "prefill").sampling->values[Metric::kDram]);  // not before the peaks
  fill_dram_use(run);
  const StageSampling& sampling = *stage(run, "prefill").sampling;
  CHECK(sampling.samples == 2);
  CHECK(*sampling.values[Metric::kSmActive] == 80);
  CHECK_FALSE(sampling.values[Metric::kOccupancy]);
  CHECK_FALSE(sampling.values[Metric::kTensor]);
  CHECK(*sampling.values[Metric::kDramRead] == 40e9);  // 4000 bytes in 100 ns
  CHECK(*sampling.values[Metric::kDram] == 50);
  CHECK(sampling.metrics.contains("dram__bytes_read.sum.per_second"));
  CHECK_FALSE(sampling.metrics.contains(kDramRead));
}

TEST_CASE("GPUs that a stage leaves idle do not thin its mean, and all count where none is known") {
  TraceBuilder builder;
  builder.stage("prefill", 0, 100);
  builder.launch(10, 20, 50, 0, 0);
  sample(series(builder.trace, {kSm}, 0), 0, 100, {80});
  sample(series(builder.trace, {kSm}, 1), 0, 100, {0});
  CHECK(*stage(builder.run_all(), "prefill").sampling->values[Metric::kSmActive] == 80);
  builder.trace.kernels.clear();
  CHECK(*stage(builder.run_all(), "prefill").sampling->values[Metric::kSmActive] == 40);
}

TEST_CASE("what several GPUs move in a stage adds up, percentages are their mean") {
  TraceBuilder builder;
  builder.stage("prefill", 0, 100);
  const char* const clock = "gpc__cycles_elapsed.avg";
  MetricSeries& one = series(builder.trace, {kSm, kDramRead, kDramWritten, clock}, 0);
  sample(one, 0, 50, {80, 1000, 500, 90});
  sample(one, 50, 50, {80, 3000, 500, 90});
  sample(series(builder.trace, {kSm, kDramRead, kDramWritten, clock}, 1), 0, 100, {40, 2000, 1000, 180});
  sample(series(builder.trace, {kSm, kDramRead}, 2), 0, 100, {60, 1000});
  builder.trace.devices.resize(3);
  for (std::int32_t id : {0, 1, 2}) {
    builder.trace.devices[static_cast<std::size_t>(id)].id = id;
    builder.trace.devices[static_cast<std::size_t>(id)].bandwidth_bytes_per_s = id == 0 ? 100'000'000'000 : 300'000'000'000;
  }
  Run run = builder.run_all();
  fill_dram_use(run);
  const StageSampling& sampling = *stage(run, "prefill").sampling;
  CHECK(*sampling.values[Metric::kSmActive] == 60);
  CHECK(*sampling.values[Metric::kDramRead] == 70e9);                         // 4000, 2000 and 1000 bytes in 100 ns
  CHECK(*sampling.values[Metric::kDramWritten] == 20e9);                      // of two of them
  CHECK(sampling.metrics.at("gpc__cycles_elapsed.avg.per_second") == 1.8e9);  // a clock does not add up
  CHECK(*sampling.values[Metric::kDram] == 20);                               // 50 + 30 of 100 + 300 bytes a ns: the third says too little
}

TEST_CASE("the curve of a capture: at most 600 values, each the mean of its samples, none where there are no samples") {
  TraceBuilder builder;
  MetricSeries& made = series(builder.trace, {kSm, kDramRead, "of_no_interest.sum"});
  double sum = 0;
  for (Ns i = 0; i < 6000; ++i) {
    if (i >= 3000 && i < 3100) continue;  // ten steps of ten samples
    const auto height = static_cast<float>(i % 100);
    sample(made, 1000 + 100 * i, 100, {height, 200, 1});
    sum += static_cast<double>(height);
  }
  const Run run = builder.run_all();
  REQUIRE(run.activity.size() == 2);
  const ActivityCurve &sm = run.activity[0], &read = run.activity[1];
  CHECK(sm.metric == kSm);
  CHECK(sm.title == "SM active");
  CHECK(sm.start_ns == 1000);
  CHECK(sm.step_ns == 1000);
  REQUIRE(sm.values.size() == 600);
  CHECK(*sm.values[0] == 4.5);
  double total = 0;
  std::size_t gaps = 0;
  for (const auto& value : sm.values) value ? total += *value : static_cast<double>(++gaps);
  CHECK(gaps == 10);
  CHECK(total * 10 == Approx(sum));  // rounding of the means
  CHECK(read.metric == "dram__bytes_read.sum.per_second");
  CHECK(*read.values[599] == 2e9);  // 200 bytes in 100 ns
}

TEST_CASE("a curve has no more values than there were samples, and odd samples do no harm") {
  TraceBuilder builder;
  MetricSeries& made = series(builder.trace, {kSm});
  made.interval_ns = std::numeric_limits<Ns>::max();  // damaged
  sample(made, 0, 100, {10});
  sample(made, 50, 0, {99});  // of no length
  sample(made, 100, 100, {kNaN});
  const Run run = builder.run_all();
  REQUIRE(run.activity.size() == 1);
  CHECK(run.activity[0].values == std::vector<std::optional<double>>{10.0});
  made.interval_ns = 100;
  CHECK(builder.run_all().activity[0].values == std::vector<std::optional<double>>{10.0, std::nullopt});
}

TEST_CASE("stalls: shares of all samples, most frequent first, and a reason's twin is part of it") {
  TraceBuilder builder;
  builder.launch(0, 10, 50);
  builder.launch(0, 70, 50, 0, 1);
  const std::string prefix = "smsp__pcsamp_warps_issue_stalled_";
  builder.trace.stalls.push_back({"k",
                                  0,
                                  {{prefix + "wait", 30},
                                   {prefix + "wait_not_issued", 20},
                                   {prefix + "long_scoreboard", 60},
                                   {prefix + "selected", 10},
                                   {prefix + "barrier", 0},
                                   {"smsp__pcsamp_sample_buffer_full", 1000}}});
  builder.trace.stalls.push_back({"k", 1, {{prefix + "wait", 7}, {prefix + "wait_not_issued", 7}}});
  builder.trace.stalls.push_back({"never launched", 0, {{prefix + "wait", 30}}});
  const Run run = builder.run_all();
  REQUIRE(run.kernels->size() == 2);
  const auto& stalls = run.kernels->at(0).stalls;
  REQUIRE(stalls.size() == 3);
  CHECK(stalls[0].reason == "long_scoreboard");
  CHECK(stalls[0].samples == 60);
  CHECK(stalls[0].share == 0.6);
  CHECK(stalls[1].reason == "wait");
  CHECK(stalls[1].samples == 30);
  CHECK(stalls[2].reason == "selected");
  CHECK(stalls[0].share + stalls[1].share + stalls[2].share <= 1.0 + 1e-12);  // rounding of three divisions
  REQUIRE(run.kernels->at(1).stalls.size() == 1);
  CHECK(run.kernels->at(1).stalls[0].samples == 7);
  CHECK(run.kernels->at(1).stalls[0].share == 1);
}

TEST_CASE("stalls: a reason's twin never adds to it, whatever its size or that of others in the capture") {
  TraceBuilder builder;
  builder.launch(0, 10, 50);
  const std::string prefix = "smsp__pcsamp_warps_issue_stalled_";
  // As an H200 gave them for one kernel, and a damaged one.
  builder.trace.stalls.push_back(
      {"k", 0, {{prefix + "long_scoreboard", 2817}, {prefix + "long_scoreboard_not_issued", 2663}, {prefix + "barrier", 50}}});
  builder.trace.stalls.push_back({"other", 0, {{prefix + "wait", 30}, {prefix + "wait_not_issued", 31}}});
  const Run run = builder.run_all();
  const auto& stalls = run.kernels->at(0).stalls;
  REQUIRE(stalls.size() == 2);
  CHECK(stalls[0].reason == "long_scoreboard");
  CHECK(stalls[0].samples == 2817);
  CHECK(stalls[1].samples == 50);
  CHECK(stalls[0].share == 2817 / 2867.0);
}

TEST_CASE("each metric of interest has a curve with its title, and the curves begin with the first sample of any GPU") {
  const std::pair<const char*, const char*> titles[] = {
      {"sm__cycles_active.avg.pct_of_peak_sustained_elapsed", "SM active"},
      {"sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed", "tensor pipe active"},
      {"sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active", "tensor pipe active, of the SMs' active cycles"},
      {"gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed", "DRAM throughput"},
      {"dram__throughput.avg.pct_of_peak_sustained_elapsed", "DRAM throughput"},
      {"dram__bytes_read.sum.per_second", "DRAM read"},
      {"dram__bytes_write.sum.per_second", "DRAM written"},
      {"sm__warps_active.avg.pct_of_peak_sustained_elapsed", "warps on the SMs"},
      {"sm__warps_active.avg.pct_of_peak_sustained_active", "warps on the SMs, while active"},
      {"gpc__cycles_elapsed.avg.per_second", "clock"}};
  for (const auto& [metric, title] : titles) {
    INFO(metric);
    TraceBuilder builder;
    sample(series(builder.trace, {metric}, 3), 500, 100, {20});
    sample(series(builder.trace, {kSm, metric}, 1), 200, 100, {1, 40});
    for (MetricSeries& each : builder.trace.metric_series) each.interval_ns = 100;
    Run run = builder.run_all();
    summarise(builder.trace, {}, run);  // again: the curves are those of this time
    const auto curve = std::find_if(run.activity.begin(), run.activity.end(), [&](const ActivityCurve& each) { return each.device == 3; });
    REQUIRE(curve != run.activity.end());
    CHECK(std::count_if(run.activity.begin(), run.activity.end(), [](const ActivityCurve& each) { return each.device == 3; }) == 1);
    CHECK(curve->metric == metric);
    CHECK(curve->title == title);
    CHECK(curve->start_ns == 200);
    CHECK(curve->step_ns == 100);
    CHECK(curve->values == std::vector<std::optional<double>>{std::nullopt, std::nullopt, std::nullopt, 20.0});
  }
}
