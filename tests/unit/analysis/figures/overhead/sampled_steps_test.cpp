#include "analysis/figures/overhead/sampled_steps.h"

#include <cmath>
#include <random>

#include "analysis/figures/overhead/measured.h"
#include "analysis/statistics/confidence.h"
#include "tests/unit/analysis/duty_run.h"

using namespace nl;
using namespace nl::analysis;

namespace {

// Rows of 4 of each 40, `slower` times as slow as the others. A step takes a millisecond and, by its row, a bit more.
DutyRun rows_in_turns(int rows, double slower, double drift_per_row = 0) {
  DutyRun made;
  made.steps("decode_step", 4, true);
  for (int i = 0; i < rows; ++i) {
    const double wall = DutyRun::kStepNs * (1 + 0.01 * (i % 3) + drift_per_row * i);
    made.steps("decode_step", 18, false, static_cast<Ns>(wall));
    made.steps("decode_step", 4, true, static_cast<Ns>(wall * slower));
    made.steps("decode_step", 18, false, static_cast<Ns>(wall));
  }
  keep_traced_steps(made.trace, kKeepWarmup);
  return made;
}

// Steps of a program whose speed wanders: neighbours are alike.
std::vector<double> wandering(std::mt19937& random, std::size_t count) {
  std::normal_distribution<double> change;
  std::vector<double> walls;
  double slow = 0;
  for (std::size_t i = 0; i < count; ++i) {
    slow = 0.98 * slow + 0.02 * change(random);
    walls.push_back(1e6 * (1 + slow + 0.01 * change(random)));
  }
  return walls;
}

// Steps of a program that is disturbed for a row, or not.
std::vector<double> of_rows(std::mt19937& random, std::size_t count) {
  std::normal_distribution<double> change;
  std::vector<double> walls;
  double slow = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (i % 16 == 0) slow = 0.03 * change(random);
    walls.push_back(1e6 * (1 + slow + 0.01 * change(random)));
  }
  return walls;
}

struct Draw {
  std::vector<RowSum> rows;
  std::vector<double> steps;
};

// One row of each `every` rows, as the collector does it.
Draw draw(std::mt19937& random, const std::vector<double>& walls, std::size_t row, std::size_t every) {
  Draw out;
  for (std::size_t block = 0; block + row * every <= walls.size(); block += row * every) {
    const std::size_t first = block + row * std::uniform_int_distribution<std::size_t>(0, every - 1)(random);
    RowSum& sum = out.rows.emplace_back();
    for (std::size_t i = first; i < first + row; ++i) {
      ++sum.windows;
      sum.sum += walls[i];
      out.steps.push_back(walls[i]);
    }
  }
  return out;
}

double mean_of_all(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

// As if the steps had been drawn one by one.
double error_by_steps(const std::vector<double>& steps) {
  const double mean = mean_of_all(steps), count = static_cast<double>(steps.size());
  double squares = 0;
  for (const double step : steps) squares += (step - mean) * (step - mean);
  return student_t(0.95, count - 1) * std::sqrt(squares / (count - 1) / count) / mean;
}

// The share of simulated runs whose interval holds the true mean.
struct Held {
  double by_rows = 0, by_steps = 0;
};

Held runs_held(std::vector<double> (*walls_of_run)(std::mt19937&, std::size_t)) {
  std::mt19937 random(7);
  constexpr int kRuns = 1000;
  Held held;
  for (int i = 0; i < kRuns; ++i) {
    const std::vector<double> walls = walls_of_run(random, 3200);
    const Draw drawn = draw(random, walls, 16, 10);
    const double truth = mean_of_all(walls), found = mean_of_all(drawn.steps);
    const auto error = sampling_error(drawn.rows, walls.size());
    REQUIRE(error);
    held.by_rows += (std::abs(found - truth) <= *error * found) / double{kRuns};
    held.by_steps += (std::abs(found - truth) <= error_by_steps(drawn.steps) * found) / double{kRuns};
  }
  return held;
}

}  // namespace

TEST_CASE("sampled steps: the interval holds the mean of all steps in 95 of 100 runs") {
  const Held held = runs_held(of_rows);
  CHECK(held.by_rows > 0.93);
  CHECK(held.by_rows < 0.975);
  CHECK(held.by_steps < 0.7);  // rows, not steps, are what was drawn
}

TEST_CASE("sampled steps: where neighbours are alike, each part of the run has its row, and the interval is wide rather than narrow") {
  const Held held = runs_held(wandering);
  CHECK(held.by_rows > 0.95);
  CHECK(held.by_steps < 0.8);
}

TEST_CASE("sampled steps: rows of different lengths count by their windows") {
  const std::vector<RowSum> rows = {{4, 40}, {2, 20}, {4, 40}, {1, 10}, {4, 40}};
  REQUIRE(sampling_error(rows, 1000));
  CHECK(*sampling_error(rows, 1000) == 0);
  CHECK_FALSE(sampling_error({{4, 40}, {4, 41}, {4, 42}, {4, 43}}, 1000));  // too few
  CHECK_FALSE(sampling_error(rows, 15));                                    // all were drawn
  const std::vector<RowSum> other = {{4, 40}, {2, 26}, {4, 36}, {1, 11}, {4, 40}};
  CHECK(*sampling_error(other, 20) < *sampling_error(other, 1000));  // less is left to be told of
}

TEST_CASE("sampled steps: what was traced of each stage, and what that says of all") {
  const DutyRun made = rows_in_turns(8, 1.2);
  const std::vector<SampledStage> stages = sampled_stages(made.trace);
  REQUIRE(stages.size() == 1);
  const SampledStage& stage = stages[0];
  CHECK(stage.stage == "decode_step");
  CHECK(stage.windows == 4 + 8 * 40);
  CHECK(stage.traced == 32);
  CHECK(stage.always == 4);
  CHECK(stage.rows == 8);
  REQUIRE(stage.wall_ns);
  REQUIRE(stage.untraced_ns);
  CHECK(*stage.wall_ns / *stage.untraced_ns == Approx(1.2).epsilon(0.001));
  REQUIRE(stage.wall_error);
  CHECK(*stage.wall_error > 0.004);
  CHECK(*stage.wall_error < 0.01);
  REQUIRE(stage.gpu_ns);
  CHECK(*stage.gpu_ns == Approx(*stage.wall_ns / 2));
  REQUIRE(stage.gpu_total_ns);
  CHECK(*stage.gpu_total_ns == Approx(*stage.gpu_ns * 324));
}

TEST_CASE("sampled steps: few rows tell no error and no total") {
  const std::vector<SampledStage> stages = sampled_stages(rows_in_turns(3, 1.2).trace);
  REQUIRE(stages.size() == 1);
  CHECK(stages[0].always == 0);
  CHECK(stages[0].traced == 16);
  CHECK_FALSE(stages[0].wall_error);
  CHECK_FALSE(stages[0].gpu_error);
  CHECK_FALSE(stages[0].gpu_total_ns);
}

TEST_CASE("sampled steps: of a stage that was traced as a whole, the total is known") {
  DutyRun made;
  made.steps("prefill", 3, true);
  made.steps("decode_step", 9, false);
  keep_traced_steps(made.trace, kKeepWarmup);
  const std::vector<SampledStage> stages = sampled_stages(made.trace);
  REQUIRE(stages.size() == 2);
  CHECK(stages[0].traced == stages[0].windows);
  REQUIRE(stages[0].gpu_total_ns);
  CHECK(*stages[0].gpu_total_ns == Approx(1.5 * DutyRun::kStepNs));
  CHECK_FALSE(stages[0].untraced_ns);
  CHECK(stages[1].traced == 0);
  CHECK_FALSE(stages[1].wall_ns);
  CHECK_FALSE(stages[1].gpu_total_ns);
}

TEST_CASE("sampled steps: nothing is said where all was traced") {
  TraceBuilder made;
  made.stage("decode_step", 10, 20);
  CHECK(sampled_stages(made.trace).empty());
  CHECK(slowdown_by_turns(made.trace, {}).empty());
}

TEST_CASE("sampled steps: traced steps against the untraced ones beside them") {
  for (const double slower : {1.0, 1.02, 1.18}) {
    const std::vector<StageSlowdown> rows = slowdown_by_turns(rows_in_turns(12, slower).trace, {});
    REQUIRE(rows.size() == 1);
    CHECK(rows[0].profiler == PassKind::kCollector);
    CHECK(rows[0].bare_ns.size() == 12);  // the first row has none before it
    REQUIRE(rows[0].slowdown);
    CHECK(*rows[0].slowdown == Approx(slower - 1).margin(1e-4));
    CHECK(*rows[0].low <= slower - 1 + 1e-4);
    CHECK(*rows[0].high >= slower - 1 - 1e-4);
  }
  CHECK(slowdown_by_turns(rows_in_turns(3, 1.18).trace, {}).empty());
}

TEST_CASE("sampled steps: a program that gets slower does not look slower where it is traced") {
  const std::vector<StageSlowdown> rows = slowdown_by_turns(rows_in_turns(12, 1.1, 0.5).trace, {});
  REQUIRE(rows.size() == 1);
  CHECK(*rows[0].slowdown == Approx(0.1).margin(1e-3));
  CHECK(*rows[0].high - *rows[0].low < 0.01);
}

TEST_CASE("sampled steps: the overhead of a run is told by turns, with passes or without") {
  Evidence evidence;
  evidence.tracer = Tracer::kCupti;
  evidence.trace = rows_in_turns(12, 1.18).trace;
  evidence.captured_any = true;
  evidence.overhead_note = "no pass was run";
  const StagedTrace staged(evidence.trace, {});
  Perturbation told = measured_overhead(evidence, staged);
  REQUIRE(told.stages.size() == 1);
  CHECK(told.stages[0].verdict == SlowdownVerdict::kOverLimit);
  CHECK(told.stages[0].summary.find("decode_step ran 18.0 % slower under the collector") == 0);
  CHECK(told.notes == std::vector<std::string>{told.stages[0].summary});

  CHECK(overhead_by_turns(evidence.trace, {}).stages.size() == 1);

  // Passes are compared by all steps, traced or not: nine in ten are not.
  const auto unprofiled = [](double ns) { return PassTimes{PassKind::kUnprofiled, {{"decode_step", ns, 484}}, 1}; };
  const auto again = [](double ns) { return PassTimes{PassKind::kCollector, {{"decode_step", ns, 484}}, 1}; };
  evidence.repeats.before = {unprofiled(1'000'000)};
  evidence.repeats.after = {unprofiled(1'001'000), again(1'011'000), unprofiled(1'002'000), again(1'012'000)};
  told = measured_overhead(evidence, staged);
  REQUIRE(told.stages.size() == 1);
  CHECK(*told.stages[0].slowdown == Approx(0.18).margin(1e-4));
  REQUIRE(told.notes.size() == 2);
  CHECK(told.notes[1].find("all steps, traced or not, against unprofiled passes: decode_step ran 1.0 % slower") == 0);
}
