#include "analysis/figures/overhead/tracing_cost.h"

#include "tests/catch.h"

using namespace nl;
using namespace nl::analysis;

namespace {

// nsys adds 10 us to a launch of Python and 2 us to another, the collector 2 to 4 us and 1 us.
const TracingKnowledge kKnown{{{10e3, 10e3}, {2e3, 4e3}}, {{2e3, 2e3}, {1e3, 1e3}}, 2, 2};

// Ten steps of 4 ms that launch 100 kernels each; the GPU works 1 ms of a step.
Run traced_steps() {
  Run run;
  run.provenance.tracer = Tracer::kNsys;
  run.kernels.emplace().resize(1);
  run.workload.verdict.unit_stage = "step";
  StageEntry& step = run.stages.emplace_back();
  step.name = "step";
  step.wall = TimeSummary{10, 40'000'000, 4e6, 4e6, {}, 4'000'000, 4'000'000, 0};
  step.gpu_busy_ns = 10'000'000;
  step.activity.emplace().launches = 1000;
  return run;
}

const std::vector<Process> kPython = {{7, "/usr/bin/python3.12"}};

}  // namespace

TEST_CASE("tracing cost: launches of a step times the cost of each, and what the collector would add") {
  const auto costs = tracing_costs(traced_steps(), kPython, kKnown);
  REQUIRE(costs.size() == 2);
  CHECK(costs[0].profiler == PassKind::kNsys);
  CHECK(costs[0].basis == CostBasis::kEstimated);
  CHECK(costs[0].stage == "step");
  CHECK(costs[0].low == Approx(1.0 / 3));  // 4 ms, of which 1 ms is nsys'
  CHECK(costs[0].high == Approx(1.0 / 3));
  CHECK(costs[0].launches_per_window == 100);
  CHECK(costs[1].profiler == PassKind::kCollector);
  CHECK(costs[1].low == Approx(0.2 / 3));
  CHECK(costs[1].high == Approx(0.4 / 3));
  const auto native = tracing_costs(traced_steps(), {{7, "/opt/server"}}, kKnown);
  REQUIRE(native.size() == 2);
  CHECK(native[0].high == Approx(0.2 / 3.8));
}

TEST_CASE("tracing cost: a step that the GPU fills is not slowed, and no step by more than was ever seen") {
  Run run = traced_steps();
  run.stages[0].gpu_busy_ns = 39'000'000;
  CHECK(tracing_costs(run, kPython, kKnown)[0].high == Approx(4.0 / 3.9 - 1));
  run.stages[0].gpu_busy_ns = 10'000'000;
  run.stages[0].activity->launches = 4000;  // the 4 ms would be all of nsys
  TracingKnowledge known = kKnown;
  known.most_nsys = 0.67;
  CHECK(tracing_costs(run, kPython, known)[0].high == Approx(0.67));
}

TEST_CASE("tracing cost: what passes measured comes before an estimate") {
  Run run = traced_steps();
  StageSlowdown& row = run.perturbation.stages.emplace_back();
  row.stage = "step";
  row.bare_ns = {3'200'000};
  row.profiled_ns = {4'000'000};
  row.slowdown = 0.25;
  row.low = 0.2;
  row.high = 0.3;
  row.verdict = SlowdownVerdict::kOverLimit;
  auto costs = tracing_costs(run, kPython, kKnown);
  REQUIRE(costs.size() == 2);
  CHECK(costs[0].basis == CostBasis::kMeasured);
  CHECK(costs[0].low == 0.25);
  CHECK(costs[0].high == 0.25);
  CHECK_FALSE(costs[0].launches_per_window);
  CHECK(costs[1].basis == CostBasis::kEstimated);
  CHECK(costs[1].high == Approx(0.4 / 3.2));
  // Passes that decide nothing: the range is what is known.
  run.perturbation.stages[0].low = -0.02;
  run.perturbation.stages[0].verdict = SlowdownVerdict::kUndecidable;
  CHECK(tracing_costs(run, kPython, kKnown)[0].low == -0.02);
  run.perturbation.stages[0].profiler = PassKind::kNcu;  // not what recorded the times
  CHECK(tracing_costs(run, kPython, kKnown)[0].basis == CostBasis::kEstimated);
}

TEST_CASE("tracing cost: what a launch costs on this machine comes before what it costs elsewhere") {
  Run run = traced_steps();
  const auto cost = [](PassKind profiler, CalibratedCall call, double ns) {
    return CallCost{profiler, "", "", call, ns, ns - 500, ns + 500, 2300, 40};
  };
  run.perturbation.calibration.costs = {cost(PassKind::kCollector, CalibratedCall::kLaunch, 1000),
                                        cost(PassKind::kCollector, CalibratedCall::kLaunchAmidCode, 2000)};
  auto costs = tracing_costs(run, {{7, "/opt/server"}}, kKnown);
  REQUIRE(costs.size() == 2);
  CHECK(costs[0].basis == CostBasis::kEstimated);
  CHECK(costs[1].basis == CostBasis::kCalibrated);
  CHECK(costs[1].launches_per_window == 100);
  CHECK(costs[1].low == Approx(0.05 / 3.8));
  CHECK(costs[1].high == Approx(0.25 / 3.8));
  run.perturbation.calibration.costs.push_back(cost(PassKind::kNsys, CalibratedCall::kLaunch, 4500));
  run.perturbation.calibration.costs.push_back(cost(PassKind::kNsys, CalibratedCall::kLaunchAmidCode, 5500));
  costs = tracing_costs(run, {{7, "/opt/server"}}, kKnown);
  CHECK(costs[0].basis == CostBasis::kCalibrated);
  CHECK(costs[0].low == Approx(4.0 / 3.6 - 1));
  CHECK(costs[0].high == Approx(4.0 / 3.4 - 1));
  CHECK(costs[1].high == Approx(0.25 / 3.5));  // of the step in the middle of that range
}

TEST_CASE("tracing cost: nothing is said where nothing tells it") {
  const auto none = [](auto change) {
    Run run = traced_steps();
    change(run);
    return tracing_costs(run, kPython, kKnown).empty();
  };
  CHECK(none([](Run& run) { run.stages.clear(); }));
  CHECK(none([](Run& run) { run.kernels.reset(); }));
  CHECK(none([](Run& run) { run.stages[0].activity.reset(); }));
  CHECK(none([](Run& run) { run.stages[0].activity->graph_launches = 600; }));  // nodes of graphs are what costs there
  CHECK(none([](Run& run) { run.stages[0].gpu_busy_ns = 50'000'000; }));        // its ranges end before their work
  CHECK(none([](Run& run) { run.provenance.tracer = Tracer::kImport; }));       // of a format that is not known
  CHECK(none([](Run& run) {
    run.provenance.tracer = Tracer::kImport;
    run.import_stats.source_format = SourceFormat::kKineto;
  }));
  CHECK_FALSE(none([](Run& run) {
    run.provenance.tracer = Tracer::kImport;
    run.import_stats.source_format = SourceFormat::kNsysSqlite;
  }));
  CHECK(tracing_costs(traced_steps(), kPython, {}).empty());
}

TEST_CASE("tracing cost: of the collector alone where it recorded the run") {
  Run run = traced_steps();
  run.provenance.tracer = Tracer::kCupti;
  const auto costs = tracing_costs(run, kPython, kKnown);
  REQUIRE(costs.size() == 1);
  CHECK(costs[0].profiler == PassKind::kCollector);
  CHECK(costs[0].low == Approx(4 / 3.8 - 1));
  CHECK(costs[0].high == Approx(4 / 3.6 - 1));
}

TEST_CASE("tracing cost: the longest stage stands for a program without a unit") {
  Run run = traced_steps();
  run.workload.verdict.unit_stage.clear();
  StageEntry& longer = run.stages.emplace_back(run.stages[0]);
  longer.name = "decode";
  longer.wall.total_ns *= 2;
  CHECK(tracing_costs(run, kPython, kKnown)[0].stage == "decode");
  run.workload.verdict.unit_stage = "step";
  CHECK(tracing_costs(run, kPython, kKnown)[0].stage == "step");
}
