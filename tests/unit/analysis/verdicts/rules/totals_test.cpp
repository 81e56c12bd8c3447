#include <algorithm>
#include <array>

#include "analysis/verdicts/rules/fields.h"
#include "tests/catch.h"

using namespace nl;
using namespace nl::analysis::rules;

namespace {

StageEntry& add_stage(Run& run, const char* name, std::uint64_t windows) {
  StageEntry& stage = run.stages.emplace_back();
  stage.name = name;
  stage.wall.count = windows;
  return stage;
}

StageSlowdown slowdown_of(PassKind profiler, double slowdown, SlowdownVerdict verdict) {
  StageSlowdown stage;
  stage.profiler = profiler;
  stage.stage = "decode";
  stage.slowdown = slowdown;
  stage.verdict = verdict;
  return stage;
}

}  // namespace

TEST_CASE("totals: steps are the windows of decode_step alone, and are shared by the windows of decode") {
  Run run;
  add_stage(run, "prefill", 7);
  add_stage(run, "decode", 4);
  const RunTotals without = total(run);
  CHECK_FALSE(without.has_steps);
  CHECK(without.steps == 0);
  CHECK(without.steps_per(run.stages[1]) == 0);
  add_stage(run, "decode_step", 12);
  const RunTotals totals = total(run);
  CHECK(totals.has_steps);
  CHECK(totals.steps == 12);
  CHECK(totals.steps_per(run.stages[1]) == 3);
  CHECK(totals.steps_per(run.stages[2]) == 1);
  run.stages[1].wall.count = 0;
  CHECK(totals.steps_per(run.stages[1]) == 0);
}

TEST_CASE("totals: the worst slowdown is that of a tracer, decided, whatever the order") {
  const StageSlowdown all[] = {
      slowdown_of(PassKind::kNsys, 0.05, SlowdownVerdict::kOverLimit), slowdown_of(PassKind::kCollector, 0.2, SlowdownVerdict::kOverLimit),
      slowdown_of(PassKind::kNsys, 0.1, SlowdownVerdict::kUnderLimit), slowdown_of(PassKind::kNcu, 9, SlowdownVerdict::kOverLimit),
      slowdown_of(PassKind::kNsys, 8, SlowdownVerdict::kUndecidable)};
  Run run;
  CHECK_FALSE(total(run).worst_slowdown.has_value());
  run.perturbation.stages.assign(std::begin(all), std::end(all));
  CHECK(total(run).worst_slowdown == 0.2);
  std::reverse(run.perturbation.stages.begin(), run.perturbation.stages.end());
  CHECK(total(run).worst_slowdown == 0.2);
  run.perturbation.stages = {slowdown_of(PassKind::kNsys, -0.1, SlowdownVerdict::kUnderLimit)};
  CHECK(total(run).worst_slowdown == -0.1);
}

TEST_CASE("totals: the device that throttles most is meant, the first where none does") {
  Run run;
  CHECK_FALSE(total(run).clock_device.has_value());
  run.energy.devices.resize(4);
  CHECK(total(run).clock_device == 0u);
  CHECK_FALSE(total(run).throttled_share.has_value());
  run.energy.devices[1].throttled_share = 0.25;
  run.energy.devices[1].throttle_reasons = {"heat", "power"};
  run.energy.devices[2].throttled_share = 0.25;
  run.energy.devices[3].throttled_share = 0.1;
  const RunTotals totals = total(run);
  CHECK(totals.clock_device == 1u);
  CHECK(totals.throttled_share == 0.25);
  CHECK(totals.throttle_reasons == "heat, power");
  run.energy.devices[3].throttled_share = 0.3;
  CHECK(total(run).clock_device == 3u);
}

TEST_CASE("totals: iterations are compared with the median of those after the first that are no warm-up") {
  Run run;
  const auto set = [&](std::vector<Ns> walls) {
    run.iterations.list.assign(walls.size(), {});
    for (std::size_t i = 0; i < walls.size(); ++i) run.iterations.list[i].wall_ns = walls[i];
    return total(run);
  };
  CHECK_FALSE(set({900, 300}).first_iteration_ratio.has_value());
  CHECK(set({900, 300, 300}).first_iteration_ratio == 3);
  CHECK(set({900, 500, 300}).iteration_spread == 0.4);
  CHECK(set({100, 0, 0}).first_iteration_ratio == std::nullopt);
  CHECK(set({600, 300, 200, 400}).first_iteration_ratio == 2);
  run.iterations.list[3].warmup = true;  // 300 and 200 are left
  CHECK(total(run).first_iteration_ratio == 2);
  CHECK(total(run).iteration_spread == Approx(1.0 / 3));
  run.iterations.list[2].warmup = true;
  CHECK_FALSE(total(run).first_iteration_ratio.has_value());
}

TEST_CASE("totals: the part that the GPU paces leaves out what waits for the host") {
  Budget budget;
  CHECK(paced_part(budget) == 1);
  budget.wall_ns = 1000;
  budget.gpu_compute_ns = 400;
  budget.queue_wait_ns = 100;
  CHECK(paced_part(budget) == 1);
  budget.launch_starved_ns = 100;
  CHECK(paced_part(budget) == Approx(0.9));
  budget.sync_blocked_ns = 200;
  CHECK(paced_part(budget) == Approx(0.7));
  budget.other_host_ns = 300;
  CHECK(paced_part(budget) == Approx(0.4));
}

TEST_CASE("subjects: a kernel's sample is the shape with the most time, and its point is of that sample") {
  Run run;
  KernelEntry& kernel = run.kernels.emplace().emplace_back();
  kernel.name = "k";
  kernel.ncu.resize(3);
  for (std::size_t i = 0; i < 3; ++i) {
    kernel.ncu[i].ncu_id = 10 + i;
    kernel.ncu[i].nsys_median_ns = std::array{100, 30, 50}[i];
    kernel.ncu[i].nsys_calls = std::array<std::uint64_t, 3>{1, 5, 3}[i];  // 100, 150 and 150 ns
  }
  run.roofline.points.resize(3);
  run.roofline.points[0].kernel = "k";
  run.roofline.points[0].ncu_id = 10;
  run.roofline.points[1].kernel = "other";
  run.roofline.points[1].ncu_id = 11;
  run.roofline.points[2].kernel = "k";
  run.roofline.points[2].ncu_id = 11;
  const RunTotals totals = total(run);
  const Subject subject = subjects_of(run, totals, RuleScope::kKernel).front();
  CHECK(subject.sample == 1u);
  CHECK(subject.point == 2u);
}

TEST_CASE("subjects: a stage's slowdown is that of a tracer with a number") {
  Run run;
  add_stage(run, "decode", 1);
  run.perturbation.stages = {
      slowdown_of(PassKind::kNcu, 1, SlowdownVerdict::kOverLimit), {}, slowdown_of(PassKind::kCollector, 2, SlowdownVerdict::kOverLimit)};
  run.perturbation.stages[1].stage = "decode";
  run.efficiency.resize(2);
  run.efficiency[1].stage = "decode";
  run.energy.stages.resize(3);
  run.energy.stages[2].stage = "decode";
  const RunTotals totals = total(run);
  const Subject subject = subjects_of(run, totals, RuleScope::kStage).front();
  CHECK(subject.slowdown == 2u);
  CHECK(subject.efficiency == 1u);
  CHECK(subject.energy == 2u);
}

TEST_CASE("totals: the activity of a run is that of its phases, without what encloses them or lies inside") {
  Run run;
  for (const char* name : {"request", "prefill", "decode", "decode_step", "sampling"}) {
    StageEntry& stage = add_stage(run, name, 1);
    stage.wall.total_ns = 100;
    stage.activity = StageActivity{.launches = 10};
  }
  run.phases.span_ns = 200;
  for (const char* name : {"request", "prefill", "decode", "idle"}) run.phases.phases.push_back({name, 50, {}});
  const RunTotals totals = total(run);
  REQUIRE(totals.activity);
  CHECK(totals.activity->launches == 20);
}
