#include <cmath>
#include <limits>

#include "parsers/collector/trace.h"
#include "tests/catch.h"
#include "tests/unit/parsers/collector/counter_file.h"
#include "tests/unit/parsers/scratch_file.h"
#include "tests/unit/remark_texts.h"

using namespace nl;
using namespace nl::parsers;
using nl::test::CounterFile;
using nl::test::ScratchFile;
using trace_format::Kind;
using trace_format::MetricUse;

namespace {

using Damage = std::map<std::string, std::uint64_t>;

Trace read_series(const CounterFile& file) {
  ScratchFile scratch(file.whole());
  return read_collector_traces({scratch.path});
}

CounterFile sampled(std::uint32_t pid = 100, std::int64_t monotonic_ns = 1000, std::uint32_t device = 0) {
  CounterFile file(pid, monotonic_ns);
  file.thread(0).set(4, MetricUse::kSamples, {"sm", "dram"}, 1, device);
  return file;
}

}  // namespace

TEST_CASE("samples become a series, in floats and since the capture began") {
  CounterFile file = sampled();
  file.samples(4, {{2000, 500, {1.5f, 20}}, {2500, 500, {2.5f, std::numeric_limits<float>::infinity()}}})
      .samples(4, {{3000, 400, {3, 40}}}, true);
  const Trace trace = read_series(file);
  CHECK(trace.stats.rows_damaged.empty());
  CHECK(trace.stats.rows_read.at("GPU samples") == 3);
  REQUIRE(trace.metric_series.size() == 1);
  const MetricSeries& series = trace.metric_series[0];
  CHECK(series.metrics == std::vector<std::string>{"sm", "dram"});
  CHECK(series.interval_ns == 500);
  CHECK(series.start_ns == std::vector<Ns>{1000, 1500, 2000});
  CHECK(series.duration_ns == std::vector<std::uint32_t>{500, 500, 400});
  REQUIRE(series.values.size() == 6);
  CHECK(series.values[2] == 2.5f);
  CHECK(std::isnan(series.values[3]));
  CHECK(series.overflows == 1);
  CHECK(trace.stats.notes == std::vector<Remark>{{Code::kSamplesLost, {"0", "1 time"}}});
}

TEST_CASE("a file of a counter pass is told by its sets") {
  CounterFile file = sampled();
  CHECK(read_series(file).stats.rows_read.count("counter sets") == 0);
  file.set(1, MetricUse::kStage, {"sm"}).set(2, MetricUse::kKernel, {"sm"});
  CHECK(read_series(file).stats.rows_read.at("counter sets") == 2);
}

TEST_CASE("samples of several processes: one GPU and list of metrics is one series, by time") {
  CounterFile a = sampled(100, 1000), b = sampled(200, 500), c = sampled(300, 2000, 1);
  a.samples(4, {{2000, 500, {1, 10}}, {3000, 500, {3, 30}}}, true);
  b.samples(4, {{2500, 500, {2, 20}}, {3500, 500, {4, 40}}}, true);
  b.set(5, MetricUse::kSamples, {"sm"}).samples(5, {{2600, 500, {9}}});
  c.samples(4, {{2700, 500, {7, 70}}});
  ScratchFile fa(a.whole()), fb(b.whole()), fc(c.whole());
  const Trace trace = read_collector_traces({fa.path, fb.path, fc.path});
  REQUIRE(trace.metric_series.size() == 3);
  const MetricSeries& merged = trace.metric_series[0];
  CHECK(merged.device == 0);
  CHECK(merged.start_ns == std::vector<Ns>{1500, 2000, 2500, 3000});
  CHECK(merged.values == std::vector<float>{1, 10, 2, 20, 3, 30, 4, 40});
  CHECK(merged.overflows == 2);
  CHECK(trace.metric_series[1].metrics == std::vector<std::string>{"sm"});
  CHECK(trace.metric_series[2].device == 1);
}

TEST_CASE("stalls of a kernel are added up over records and processes") {
  CounterFile a, b(200);
  a.thread(0)
      .name(1, "_Zk")
      .text(Kind::kStallReason, 1, "wait")
      .text(Kind::kStallReason, 2, "barrier")
      .stalls(1, {{1, 5}, {2, 6}})
      .stalls(1, {{1, 7}});
  b.thread(0).name(9, "_Zk").text(Kind::kStallReason, 3, "wait").stalls(9, {{3, 100}}).stalls(9, {{3, 1}}, 1);
  ScratchFile fa(a.whole()), fb(b.whole());
  const Trace trace = read_collector_traces({fa.path, fb.path});
  CHECK(trace.stats.rows_damaged.empty());
  REQUIRE(trace.stalls.size() == 2);
  CHECK(trace.stalls[0].kernel == "_Zk");
  CHECK(trace.stalls[0].reasons == std::map<std::string, std::uint64_t>{{"barrier", 6}, {"wait", 112}});
  CHECK(trace.stalls[1].device == 1);
}

TEST_CASE("a sample may lie at the very beginning of the clock") {
  CounterFile file = sampled();
  file.samples(4, {{0, 500, {1, 2}}});
  const Trace trace = read_series(file);
  CHECK(trace.stats.rows_damaged.empty());
  REQUIRE(trace.metric_series.size() == 1);
  CHECK(trace.metric_series[0].start_ns == std::vector<Ns>{-1000});  // the file begins at 1000
}

TEST_CASE("a set of metrics that is defined anew begins another series") {
  CounterFile file = sampled();
  file.samples(4, {{2000, 500, {1, 2}}}).set(4, MetricUse::kSamples, {"tensor"}).samples(4, {{3000, 500, {9}}});
  const Trace trace = read_series(file);
  REQUIRE(trace.metric_series.size() == 2);
  CHECK(trace.metric_series[0].values == std::vector<float>{1, 2});
  CHECK(trace.metric_series[1].values == std::vector<float>{9});
}

TEST_CASE("damaged samples and stalls are counted, and the rest is read") {
  CounterFile file = sampled();
  file.add(Kind::kSamples, trace_format::Samples{{}, 1000000, 0}, 4, std::string(40, '\0'));
  file.add(Kind::kSamples, trace_format::Samples{{}, 0xFFFFFFFF, 0}, 4);
  file.samples(77, {{2000, 500, {1, 2}}}).samples(4, {{-5, 500, {1, 2}}, {INT64_MAX, 500, {1, 2}}, {2000, 500, {1, 2}}});
  file.add(Kind::kStalls, trace_format::Stalls{{}, 0xFFFFFFFF, 0}, 1).stalls(1, {{1, 5}}).name(2, "_Zk").stalls(2, {{8, 5}, {1, 6}});
  file.text(Kind::kStallReason, 1, "wait");
  file.add(Kind::kStallReason, trace_format::String{{}, 500, 0}, 3, "short");
  const Trace trace = read_series(file);
  CHECK(nl::test::texts_of(trace.stats.rows_damaged) == Damage{{"samples that do not fit their record", 2},
                                                               {"counters or samples whose metrics are not known", 1},
                                                               {"sample with an impossible time", 2},
                                                               {"stalls that do not fit their record", 1},
                                                               {"stalls of a function whose name was lost", 1},
                                                               {"stall reason whose name was lost", 1},
                                                               {"string longer than its record", 1}});
  REQUIRE(trace.metric_series.size() == 1);
  CHECK(trace.metric_series[0].start_ns == std::vector<Ns>{1000});
  REQUIRE(trace.stalls.size() == 1);
  CHECK(trace.stalls[0].reasons == std::map<std::string, std::uint64_t>{{"wait", 6}});
}

TEST_CASE("samples and stalls cut at every byte: what came before is read") {
  CounterFile file = sampled();
  const std::size_t before = file.ends.size();
  file.samples(4, {{2000, 500, {1, 2}}, {2500, 500, {3, 4}}}).samples(4, {{3000, 500, {5, 6}}});
  file.name(1, "_Zk").text(Kind::kStallReason, 1, "wait").stalls(1, {{1, 5}});
  const std::string whole = file.bytes;
  ScratchFile scratch("");
  for (std::size_t length = 1; length <= whole.size(); ++length) {
    scratch.write(whole.substr(0, length));
    const Trace trace = read_collector_traces({scratch.path});
    const auto ended = [&](std::size_t record) { return length >= file.ends[before + record]; };
    const std::size_t samples = trace.metric_series.empty() ? 0 : trace.metric_series[0].start_ns.size();
    REQUIRE(samples == (ended(0) ? 2u : 0u) + (ended(1) ? 1u : 0u));
    REQUIRE(trace.stalls.empty() == !ended(4));
  }
}

TEST_CASE("a trace of a counter pass has its ranges and notes, and no kernels") {
  CounterFile file;
  file.thread(7).string(1, "LLM").string(2, "prefill").push(2, 1500, 1).pop(2500, 1);
  file.thread(0).set(1, MetricUse::kStage, {"a"}).window(1, 1, 2, 0, {1}).note("counters are not measured: why");
  const Trace trace = read_series(file);
  CHECK(trace.stats.rows_damaged.empty());
  CHECK(trace.ranges.size() == 1);
  CHECK_FALSE(trace.has_kernel_data);
  CHECK(trace.metric_series.empty());
  CHECK(trace.stats.notes == std::vector<Remark>{{Code::kCountersFailed, {"why"}}});
}
