#include "analysis/figures/counters/ncu_match.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "tests/catch.h"
#include "tests/unit/analysis/trace_builder.h"

namespace {

// Two launches of the kernel k: 100 and 300 ns.
TraceBuilder launched_twice() {
  TraceBuilder b;
  b.launch(0, 10, 100);
  b.launch(20, 200, 300);
  return b;
}

nl::NcuLaunch launch_of_k(std::uint64_t id, std::map<std::string, double> metrics) {
  nl::NcuLaunch launch;
  launch.id = id;
  launch.kernel_name = "k";
  launch.metrics = std::move(metrics);
  return launch;
}

std::vector<nl::NcuSample> samples_of(std::vector<nl::NcuLaunch> launches) {
  const TraceBuilder b = launched_twice();
  nl::Run run = b.run_all();
  nl::NcuReport report;
  report.launches = std::move(launches);
  const auto match = nl::analysis::match_ncu(report, b.trace, run);
  CHECK(match.matched == report.launches.size());
  return run.kernels->at(0).ncu;
}

}  // namespace

TEST_CASE("durations agree from two thirds of nsys' shortest to half more than its longest and 2 µs") {
  const std::pair<double, bool> expected[] = {{66, false}, {67, true}, {200, true}, {2450, true}, {2451, false}};
  for (const auto& [duration_ns, agree] : expected) {
    CAPTURE(duration_ns);
    CHECK(samples_of({launch_of_k(0, {{"gpu__time_duration.sum", duration_ns}})})[0].durations_agree == agree);
  }
}

TEST_CASE("nsys' times of a launch are those of all its executions") {
  TraceBuilder b = launched_twice();
  b.launch(40, 600, 110);
  nl::Run run = b.run_all();
  nl::NcuReport report;
  report.launches = {launch_of_k(5, {{"gpu__time_duration.max", 120.4}})};
  nl::analysis::match_ncu(report, b.trace, run);
  const auto& sample = run.kernels->at(0).ncu.at(0);
  CHECK(sample.ncu_id == 5);
  CHECK(sample.nsys_median_ns == 110);  // of 100, 110 and 300
  CHECK(sample.nsys_min_ns == 100);
  CHECK(sample.nsys_max_ns == 300);
  CHECK(sample.nsys_calls == 3);
  CHECK(sample.ncu_duration_ns == 120);
}

TEST_CASE("a launch that matches nothing is named with its shape and the reason") {
  TraceBuilder b = launched_twice();
  nl::Run run = b.run_all();
  nl::NcuReport report;
  report.launches = {launch_of_k(0, {}), launch_of_k(1, {})};
  report.launches[0].grid = {1, 2, 3};
  report.launches[0].block = {4, 5, 6};
  report.launches[1].kernel_name = "other";
  CHECK(nl::analysis::match_ncu(report, b.trace, run).unmatched_launches ==
        std::vector<std::string>{"k grid (1, 2, 3) block (4, 5, 6): the trace has this kernel, but not with this grid, block and device",
                                 "other grid (1, 1, 1) block (1, 1, 1): the trace has no kernel of this name"});
  run.kernels->clear();
  report.launches = {launch_of_k(0, {})};
  CHECK(nl::analysis::match_ncu(report, b.trace, run).unmatched_launches.at(0).ends_with(": the run has no such kernel"));
}

TEST_CASE("a launch without a duration neither agrees nor disagrees") {
  const auto sample = samples_of({launch_of_k(0, {{"sm__throughput.avg.pct_of_peak_sustained_elapsed", 40}})})[0];
  CHECK_FALSE(sample.ncu_duration_ns.has_value());
  CHECK_FALSE(sample.durations_agree.has_value());
  CHECK(sample.nsys_calls == 2);
}

TEST_CASE("run.json keeps what a launch's counters say of it, and leaves out peaks, attributes and repeats of averages") {
  const std::map<std::string, double> metrics = {{"launch__registers_per_thread", 1},
                                                 {"launch__waves_per_multiprocessor", 2},
                                                 {"launch__grid_size", 3},
                                                 {"device__attribute_clock_rate", 4},
                                                 {"dram__bytes.sum", 5},
                                                 {"dram__bytes.sum.peak_sustained", 6},
                                                 {"sm__x.avg", 7},
                                                 {"sm__x.min", 8},
                                                 {"sm__x.max", 9},
                                                 {"sm__x.sum", 10},
                                                 {"sm__y.min", 11},
                                                 {"sm__z.avg.pct_of_peak_sustained_elapsed", 12},
                                                 {"sm__z.sum.pct_of_peak_sustained_elapsed", 13},
                                                 {"sm__w_internal_activity.avg.pct_of_peak_sustained_elapsed", 14}};
  const auto sample = samples_of({launch_of_k(0, metrics)})[0];
  std::vector<std::string> kept;
  for (const auto& [name, value] : sample.metrics) kept.push_back(name);
  CHECK(kept == std::vector<std::string>{"dram__bytes.sum", "launch__registers_per_thread", "launch__waves_per_multiprocessor", "sm__x.avg",
                                         "sm__x.sum", "sm__y.min", "sm__z.avg.pct_of_peak_sustained_elapsed"});
}

TEST_CASE("the same launch on another page fills what the first lacks; another id, or another time, is another launch") {
  const auto first = launch_of_k(1, {{"gpu__time_duration.sum", 200}, {"sm__a.avg", 1}});
  CHECK(samples_of({first, launch_of_k(1, {{"sm__b.avg", 2}})}).size() == 1);
  CHECK(samples_of({first, launch_of_k(2, {{"sm__b.avg", 2}})}).size() == 2);
  CHECK(samples_of({first, launch_of_k(1, {{"gpu__time_duration.sum", 207}})}).size() == 1);  // 5 ns and a hundredth
  CHECK(samples_of({first, launch_of_k(1, {{"gpu__time_duration.sum", 208}})}).size() == 2);
  const auto filled =
      samples_of({launch_of_k(1, {{"sm__a.avg", 1}}), launch_of_k(1, {{"gpu__time_duration.sum", 200}, {"sm__a.avg", 3}})})[0];
  CHECK(filled.ncu_duration_ns == 200);
  CHECK(filled.durations_agree == true);
  CHECK(filled.metrics.at("sm__a.avg") == 1);
  const auto bound =
      samples_of({launch_of_k(1, {{"sm__a.avg", 1}}), launch_of_k(1, {{"sm__throughput.avg.pct_of_peak_sustained_elapsed", 20},
                                                                      {"dram__throughput.avg.pct_of_peak_sustained_elapsed", 90}})})[0];
  CHECK(bound.bound_by == nl::Bound::kMemory);
  CHECK(bound.bound_memory == nl::MemoryLevel::kDram);
  CHECK(bound.values[nl::Metric::kSm] == 20.0);
}

TEST_CASE("kernels from ncu alone: times, shares and stages are of the launches that it profiled") {
  const auto launch = [](const char* name, std::int32_t device, std::uint64_t id, std::optional<double> ns, const char* range) {
    nl::NcuLaunch each = launch_of_k(id, {});
    each.kernel_name = name;
    each.device = device;
    if (ns) each.metrics["gpu__time_duration.sum"] = *ns;
    if (range) each.ranges.push_back({.domain = "LLM", .name = range});
    return each;
  };
  nl::NcuReport report;
  report.launches = {launch("a", 0, 1, 100, "prefill"), launch("a", 0, 2, 50, "decode_all"), launch("a", 0, 3, 50, "decode_all"),
                     launch("b", 0, 4, 600, nullptr),   launch("a", 1, 5, 200, nullptr),     launch("c", 0, 6, std::nullopt, "prefill")};
  nl::Evidence evidence;
  evidence.tracer = nl::Tracer::kImport;
  evidence.ncu = {report};
  const nl::Run run = nl::analysis::analyse(evidence, {});
  CHECK_FALSE(run.kernels_note);
  REQUIRE(run.kernels.has_value());
  REQUIRE(run.kernels->size() == 4);
  const auto& kernels = *run.kernels;
  CHECK(kernels[0].name == "b");
  CHECK(kernels[0].gpu_share == Approx(0.75));  // of GPU 0
  CHECK(kernels[1].name == "a");
  CHECK(kernels[1].device == 0);
  CHECK(kernels[1].time.count == 3);
  CHECK(kernels[1].time.total_ns == 200);
  CHECK(kernels[1].gpu_share == Approx(0.25));
  CHECK(kernels[1].ncu.size() == 3);
  REQUIRE(kernels[1].stages.size() == 2);
  CHECK(std::tuple(kernels[1].stages[0].stage, kernels[1].stages[0].total_ns, kernels[1].stages[0].calls) ==
        std::tuple("prefill", 100, 1u));
  CHECK(std::tuple(kernels[1].stages[1].stage, kernels[1].stages[1].total_ns, kernels[1].stages[1].calls) == std::tuple("decode", 100, 2u));
  CHECK(kernels[2].device == 1);
  CHECK(kernels[3].name == "c");
  CHECK(kernels[3].time.count == 0);
  CHECK(kernels[3].stages[0].calls == 1);
  for (const auto& kernel : kernels) {
    CHECK(kernel.selected);
    for (const auto& sample : kernel.ncu) {
      CHECK_FALSE(sample.durations_agree.has_value());
      CHECK(sample.matched_by == nl::KernelMatch::kName);
      CHECK(sample.measured_by == nl::Meter::kNcu);
    }
  }
}

TEST_CASE("launches of one id and other shapes are other launches, and registers that differ are not known") {
  TraceBuilder b;
  b.launch(0, 10, 100);
  b.launch(20, 200, 300);
  nl::KernelShape shape = b.trace.shapes[0];
  shape.grid = {8, 1, 1};
  shape.registers_per_thread = 40;
  b.trace.shapes.push_back(shape);
  b.kernel("k", 600, 50, b.call(590)).shape = 1;
  shape.dynamic_shared_bytes = 64;
  shape.registers_per_thread = 48;
  b.trace.shapes.push_back(shape);
  nl::NcuReport report;
  report.launches = {launch_of_k(1, {}), launch_of_k(1, {})};
  report.launches[1].grid = {8, 1, 1};
  const auto samples = [&] {
    nl::Run run = b.run_all();
    CHECK(nl::analysis::match_ncu(report, b.trace, run).matched == 2);
    return run.kernels->at(0).ncu;
  };
  REQUIRE(samples().size() == 2);
  CHECK(samples()[0].nsys_calls == 2);
  CHECK(samples()[1].nsys_calls == 1);
  CHECK(samples()[1].metrics.at("launch__registers_per_thread") == 40);
  CHECK_FALSE(samples()[0].metrics.contains("launch__registers_per_thread"));
  b.kernel("k", 700, 70, b.call(690)).shape = 2;
  CHECK(samples()[1].nsys_calls == 2);
  CHECK_FALSE(samples()[1].metrics.contains("launch__registers_per_thread"));
}

TEST_CASE("kernels of an ncu file alone have a short name, as those of a trace do") {
  nl::NcuReport report;
  for (const char* name : {"void at::native::reduce_kernel<512, 1>(T3)", "gemm", "ampere_sgemm_128x64_tn"}) {
    report.launches.push_back(launch_of_k(report.launches.size(), {{"gpu__time_duration.sum", 100}}));
    report.launches.back().kernel_name = name;
  }
  std::vector<std::string> names;
  for (const nl::KernelEntry& kernel : nl::analysis::ncu_kernels(report)) names.push_back(kernel.short_name);
  std::sort(names.begin(), names.end());
  CHECK(names == std::vector<std::string>{"ampere_sgemm_128x64_tn", "gemm", "reduce_kernel"});
}
