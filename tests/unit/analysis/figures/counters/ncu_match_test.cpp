#include "analysis/figures/counters/ncu_match.h"

#include <string>

#include "analysis/figures/counters/metric_values.h"
#include "parsers/ncu/csv.h"
#include "parsers/nsys/sqlite.h"
#include "tests/catch.h"
#include "tests/unit/analysis/into_run.h"
#include "tests/unit/files.h"
#include "tests/unit/remark_texts.h"

using nl::test::kLlama;
using nl::test::kProbe;

namespace {

const nl::NcuSample& sample_of(const nl::Run& run, std::uint64_t id) {
  for (const auto& kernel : *run.kernels)
    for (const auto& sample : kernel.ncu)
      if (sample.ncu_id == id) return sample;
  FAIL("no sample " << id);
  throw 0;
}

std::size_t samples(const nl::Run& run) {
  std::size_t n = 0;
  for (const auto& kernel : *run.kernels) n += kernel.ncu.size();
  return n;
}

// Two kernels of one base name, 100 ns each but for the last launch.
nl::Trace small_trace() {
  nl::Trace trace;
  trace.has_kernel_data = true;
  trace.processes.resize(1);
  trace.queues = {{0, 0, 1, 7}};
  const auto add_shape = [&](const char* name, const char* mangled, std::uint32_t grid) {
    nl::KernelShape shape;
    shape.name = trace.strings.intern(name);
    shape.mangled_name = trace.strings.intern(mangled);
    shape.short_name = trace.strings.intern("scale");
    shape.grid = {grid, 1, 1};
    shape.block = {32, 1, 1};
    trace.shapes.push_back(shape);
  };
  add_shape("void a::x::scale<(int)1>(int)", "_Zx", 4);
  add_shape("void a::y::scale<(int)1>(int)", "_Zy", 4);
  add_shape("void a::y::scale<(int)1>(int)", "_Zy", 8);
  for (std::uint32_t i = 0; i < 4; ++i) {
    nl::Kernel kernel;
    kernel.start_ns = 1000 * i;
    kernel.duration_ns = i == 3 ? 300 : 100;
    kernel.shape = i == 3 ? 2 : i % 3;
    trace.kernels.push_back(kernel);
  }
  return trace;
}

nl::NcuReport report_of(const char* name, std::uint32_t grid) {
  nl::NcuReport report;
  nl::NcuLaunch launch;
  launch.kernel_name = name;
  launch.grid = {grid, 1, 1};
  launch.block = {32, 1, 1};
  launch.metrics["gpu__time_duration.sum"] = 222;
  report.launches.push_back(launch);
  return report;
}

nl::Run summarised(const nl::Trace& trace) {
  nl::Run run;
  nl::analysis::summarise(trace, {}, run);
  return run;
}

}  // namespace

TEST_CASE("registers are the trace's where the counters come without them; ncu's own say the same") {
  const auto trace = nl::parsers::read_nsys_sqlite(kLlama + "nsys.sqlite");
  auto by_ncu = nl::parsers::read_ncu_csv(kLlama + "ncu_decode_raw.csv");
  auto run = summarised(trace), without = summarised(trace);
  nl::analysis::match_ncu(by_ncu, trace, run);
  for (nl::NcuLaunch& launch : by_ncu.launches) CHECK(launch.metrics.erase("launch__registers_per_thread") == 1);
  nl::analysis::match_ncu(by_ncu, trace, without);
  std::size_t compared = 0;
  for (const auto& kernel : *without.kernels)
    for (const auto& sample : kernel.ncu) {
      CHECK(sample.metrics.at("launch__registers_per_thread") == sample_of(run, sample.ncu_id).metrics.at("launch__registers_per_thread"));
      ++compared;
    }
  CHECK(compared > 0);

  auto two = small_trace();  // two modules with a kernel of the same name and shape
  two.shapes[0].registers_per_thread = 16;
  two.shapes.push_back(two.shapes[0]);
  two.shapes.back().registers_per_thread = 24;
  two.kernels[1].shape = 3;
  auto unclear = summarised(two);
  nl::analysis::match_ncu(report_of("_Zx", 4), two, unclear);
  CHECK_FALSE(sample_of(unclear, 0).metrics.contains("launch__registers_per_thread"));
}

TEST_CASE("every launch that ncu profiled is joined to the kernel nsys timed, with proof") {
  const auto trace = nl::parsers::read_nsys_sqlite(kLlama + "nsys.sqlite");
  auto run = summarised(trace);
  const auto match = nl::analysis::match_ncu(nl::parsers::read_ncu_csv(kLlama + "ncu_decode_raw.csv"), trace, run);
  CHECK(match.matched == 16);
  CHECK(match.unmatched_launches.empty());
  CHECK(samples(run) == 16);
  const auto& gather = sample_of(run, 0);
  CHECK(gather.matched_by == nl::KernelMatch::kNormalisedName);
  CHECK(gather.ncu_duration_ns == 3104);
  CHECK(gather.nsys_calls == 16);  // one per decode step
  CHECK(gather.nsys_median_ns > 1000);
  CHECK(gather.nsys_median_ns < 5000);
  CHECK(gather.stage == "decode_step");
  CHECK(gather.values[nl::Metric::kSm].has_value());
  CHECK(gather.values[nl::Metric::kTensor].has_value());
  CHECK(gather.bound_by == nl::Bound::kLatency);
  CHECK(gather.metrics.count("gpu__time_duration.sum") == 1);
  CHECK(gather.metrics.count("device__attribute_clock_rate") == 0);
  for (const auto& kernel : *run.kernels) CHECK(kernel.ncu.empty() == kernel.ncu_note.has_value());
}

TEST_CASE("the details page of the same report adds nothing twice") {
  const auto trace = nl::parsers::read_nsys_sqlite(kLlama + "nsys.sqlite");
  auto run = summarised(trace);
  nl::analysis::match_ncu(nl::parsers::read_ncu_csv(kLlama + "ncu_decode_raw.csv"), trace, run);
  const auto again = nl::analysis::match_ncu(nl::parsers::read_ncu_csv(kLlama + "ncu_decode_details.csv"), trace, run);
  CHECK(again.matched == 16);
  CHECK(samples(run) == 16);
  CHECK(sample_of(run, 0).metrics.count("Warp State Statistics/Avg. Active Threads Per Warp") == 1);
  // Another report of the same kernels is another measurement.
  nl::analysis::match_ncu(nl::parsers::read_ncu_csv(kLlama + "ncu_prefill_raw.csv"), trace, run);
  CHECK(samples(run) == 24);
}

TEST_CASE("mangled names, domains and both shapes of the probe") {
  const auto trace = nl::parsers::read_nsys_sqlite(kProbe + "probe_node.sqlite");
  auto run = summarised(trace);
  const auto match = nl::analysis::match_ncu(nl::parsers::read_ncu_csv(kProbe + "ncu_prefill_raw_mangled.csv"), trace, run);
  CHECK(match.matched == 6);
  CHECK(match.unmatched_launches.empty());
  const auto& first = sample_of(run, 0);
  CHECK(first.matched_by == nl::KernelMatch::kMangledName);
  CHECK(first.stage == "prefill");
  CHECK(first.grid == nl::Dim3{256, 1, 1});
  CHECK(sample_of(run, 3).grid == nl::Dim3{128, 1, 1});
  CHECK(sample_of(run, 3).nsys_calls + first.nsys_calls > 0);
}

TEST_CASE("a shape that nsys never saw is reported and attached to nothing") {
  const auto trace = small_trace();
  auto run = summarised(trace);
  const auto match = nl::analysis::match_ncu(report_of("void a::y::scale<1>(int)", 16), trace, run);
  CHECK(match.matched == 0);
  REQUIRE(match.unmatched_launches.size() == 1);
  CHECK(match.unmatched_launches[0].find("grid (16, 1, 1)") != std::string::npos);
  CHECK(samples(run) == 0);
  CHECK(nl::analysis::match_ncu(report_of("other", 4), trace, run).unmatched_launches.size() == 1);
}

TEST_CASE("an ambiguous name is told by its grid, or not at all") {
  const auto trace = small_trace();
  auto run = summarised(trace);
  const auto unclear = nl::analysis::match_ncu(report_of("void a::scale<1>(int)", 4), trace, run);
  CHECK(unclear.matched == 0);
  REQUIRE(unclear.unmatched_launches.size() == 1);
  CHECK(unclear.unmatched_launches[0].find("several kernels") != std::string::npos);
  const auto clear = nl::analysis::match_ncu(report_of("void a::scale<1>(int)", 8), trace, run);
  CHECK(clear.matched == 1);
  const auto& sample = sample_of(run, 0);
  CHECK(sample.nsys_calls == 2);        // the third launch and the fourth
  CHECK(sample.nsys_median_ns == 200);  // of 100 and 300
  CHECK(sample.nsys_min_ns == 100);
  CHECK(sample.nsys_max_ns == 300);
  CHECK(sample.durations_agree == true);
  CHECK(sample.ncu_duration_ns == 222);
  CHECK_FALSE(sample.bound_by.has_value());
}

TEST_CASE("a launch that took far longer or shorter than nsys' ones is matched, and said not to agree") {
  const auto trace = small_trace();
  for (const double duration_ns : {60.0, 2500.0}) {  // nsys: 100 and 300; two thirds and half more with 2 µs on top
    auto run = summarised(trace);
    auto report = report_of("void a::scale<1>(int)", 8);
    report.launches[0].metrics["gpu__time_duration.sum"] = duration_ns;
    CHECK(nl::analysis::match_ncu(report, trace, run).matched == 1);
    CHECK(sample_of(run, 0).durations_agree == false);
  }
}

TEST_CASE("selected kernels that ncu did not profile keep the note that says so") {
  const auto trace = small_trace();
  auto run = summarised(trace);
  nl::analysis::match_ncu(report_of("_Zx", 4), trace, run);
  std::vector<std::string> missing;
  for (const nl::KernelEntry& kernel : *run.kernels)
    if (kernel.selected && kernel.ncu.empty() && kernel.ncu_note == nl::Remark{nl::Code::kNotMeasured}) missing.push_back(kernel.name);
  CHECK(missing == std::vector<std::string>{"void a::y::scale<(int)1>(int)"});
}

TEST_CASE("damaged rows of the CSV reach the run") {
  const auto trace = small_trace();
  auto run = summarised(trace);
  auto report = report_of("_Zx", 4);
  report.rows_damaged[{nl::Code::kRowCut}] = 2;
  nl::analysis::match_ncu(report, trace, run);
  CHECK(nl::test::texts_of(run.ncu_rows_damaged).at("a row was cut off") == 2);
}

TEST_CASE("bound by: both sides measured, one clearly busier") {
  CHECK(nl::analysis::classify_bound(20.0, 85.0).by == nl::Bound::kMemory);
  CHECK(nl::analysis::classify_bound(85.0, 20.0).by == nl::Bound::kCompute);
  CHECK(nl::analysis::classify_bound(20.0, 30.0).by == nl::Bound::kLatency);
  CHECK(nl::analysis::classify_bound(60.0, 59.0).by == std::nullopt);
  CHECK(nl::analysis::classify_bound(80.0, 78.0).by == std::nullopt);
  CHECK(nl::analysis::classify_bound(std::nullopt, 85.0).by == std::nullopt);
  CHECK(nl::analysis::classify_bound(85.0, std::nullopt).by == std::nullopt);
  CHECK(nl::analysis::memory_throughput({{"lts__throughput.avg.pct_of_peak_sustained_elapsed", 70}}) == std::nullopt);
  CHECK(nl::analysis::memory_throughput({{"gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed", 40},
                                         {"lts__throughput.avg.pct_of_peak_sustained_elapsed", 70}}) == 70.0);
}
