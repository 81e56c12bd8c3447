#include "analysis/runs/compare/compare.h"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "tests/catch.h"
#include "tests/unit/analysis/runs/compare/made_runs.h"

using namespace nl;
using namespace nl::analysis;
using namespace nl::test;

namespace {

const std::vector<MadeKernel> kKernels = {{"gemm", 300'000}, {"attention", 200'000}, {"norm", 50'000}};

// Runs in turns, of both sides; B's steps are longer by this.
struct Pair {
  std::vector<Run> a, b;
};

Pair in_turns(int runs, double slower, bool drifting = false) {
  Pair sides;
  for (int i = 0; i < 2 * runs; ++i) {
    const bool b = i % 4 == 1 || i % 4 == 2;
    const double factor = (b ? 1 + slower : 1) * (1 + 0.002 * (i * 5 % 7 - 3)) * (drifting ? 1 + 0.01 * i : 1);
    (b ? sides.b : sides.a).push_back(made_run(steps_around(static_cast<Ns>(1e6 * factor), 40, i), kKernels, at_place(i)));
  }
  return sides;
}

Pair in_blocks(int runs, double slower, double drift) {
  Pair sides;
  for (int i = 0; i < 2 * runs; ++i) {
    const bool b = i >= runs;
    const double factor = (b ? 1 + slower : 1) * (1 + 0.002 * (i * 5 % 7 - 3)) * (1 + drift * i);
    (b ? sides.b : sides.a).push_back(made_run(steps_around(static_cast<Ns>(1e6 * factor), 40, i), kKernels, at_place(i)));
  }
  return sides;
}

const CompareLine& line_of_stage(const Comparison& comparison, CompareFigure figure, const std::string& stage = "decode_step") {
  for (const CompareLine& line : comparison.stages.lines)
    if (line.stage == stage && line.figure == figure) return line;
  FAIL("no such line");
  return comparison.stages.lines.front();
}

CompareVerdict mirrored(CompareVerdict verdict) {
  if (verdict == CompareVerdict::kImproved) return CompareVerdict::kRegressed;
  return verdict == CompareVerdict::kRegressed ? CompareVerdict::kImproved : verdict;
}

LineReason mirrored(LineReason reason) {
  if (reason == LineReason::kOnlyInA) return LineReason::kOnlyInB;
  return reason == LineReason::kOnlyInB ? LineReason::kOnlyInA : reason;
}

void check_mirror(const CompareLine& there, const CompareLine& back) {
  INFO(there.key + " " + there.stage);
  CHECK(there.key == back.key);
  CHECK(there.a == back.b);
  CHECK(there.b == back.a);
  CHECK(there.p_value == back.p_value);
  CHECK(there.q_value == back.q_value);
  CHECK(there.reason == mirrored(back.reason));
  CHECK(there.runs_to_decide == back.runs_to_decide);
  CHECK(there.verdict == mirrored(back.verdict));
  REQUIRE(there.change.has_value() == back.change.has_value());
  if (!there.change) return;
  CHECK(there.change->log_ratio == -back.change->log_ratio);
  REQUIRE(there.change->low.has_value() == back.change->low.has_value());
  if (!there.change->low) return;
  CHECK(*there.change->low == -*back.change->high);
  CHECK(*there.change->high == -*back.change->low);
}

void check_mirror(const Comparison& there, const Comparison& back) {
  CHECK(there.verdict == mirrored(back.verdict));
  CHECK(there.comparability.score == back.comparability.score);
  CHECK(there.drift_per_run == back.drift_per_run);
  const auto sections = {&Comparison::headline, &Comparison::stages, &Comparison::budget, &Comparison::operators, &Comparison::api};
  for (const auto section : sections) {
    REQUIRE((there.*section).lines.size() == (back.*section).lines.size());
    for (std::size_t i = 0; i < (there.*section).lines.size(); ++i) check_mirror((there.*section).lines[i], (back.*section).lines[i]);
  }
  REQUIRE(there.kernels.size() == back.kernels.size());
  for (std::size_t s = 0; s < there.kernels.size(); ++s) {
    REQUIRE(there.kernels[s].pairs.size() == back.kernels[s].pairs.size());
    for (std::size_t i = 0; i < there.kernels[s].pairs.size(); ++i) {
      check_mirror(there.kernels[s].pairs[i].line, back.kernels[s].pairs[i].line);
      CHECK(there.kernels[s].pairs[i].paired_by == back.kernels[s].pairs[i].paired_by);
    }
  }
  REQUIRE(there.waterfall.has_value() == back.waterfall.has_value());
  if (!there.waterfall) return;
  CHECK(there.waterfall->a_ns == back.waterfall->b_ns);
  REQUIRE(there.waterfall->rows.size() == back.waterfall->rows.size());
  for (std::size_t i = 0; i < there.waterfall->rows.size(); ++i) {
    CHECK(there.waterfall->rows[i].key == back.waterfall->rows[i].key);
    CHECK(there.waterfall->rows[i].a_ns == back.waterfall->rows[i].b_ns);
  }
}

void check_nothing_changed(const Comparison& comparison) {
  CHECK(comparison.verdict == CompareVerdict::kUnchanged);
  CHECK(comparison.reason == LineReason::kNoDifference);
  for (const CompareSection* section :
       {&comparison.headline, &comparison.stages, &comparison.budget, &comparison.efficiency, &comparison.api})
    for (const CompareLine& line : section->lines) {
      INFO(line.key);
      CHECK(line.verdict == CompareVerdict::kUnchanged);
      CHECK(line.reason == LineReason::kNoDifference);
      CHECK(line.a == line.b);
    }
  for (const StageKernels& stage : comparison.kernels) {
    CHECK_FALSE(stage.entered);
    for (const KernelPair& pair : stage.pairs) {
      CHECK(pair.relation == KernelRelation::kSame);
      CHECK(pair.line.reason == LineReason::kNoDifference);
    }
  }
  if (comparison.waterfall)
    for (const WaterfallRow& row : comparison.waterfall->rows) CHECK(row.a_ns == row.b_ns);
}

}  // namespace

TEST_CASE("a run compared with itself: exactly nothing changed") {
  const std::vector<Run> one = {made_run(steps_around(1'000'000), kKernels, at_place(1))};
  check_nothing_changed(compare(one, one));
  const Pair sides = in_turns(5, 0.1);
  check_nothing_changed(compare(sides.a, sides.a));
}

TEST_CASE("A and B swapped: the exact mirror") {
  for (const int runs : {1, 2, 3, 5}) {
    const Pair sides = in_turns(runs, 0.1, true);
    check_mirror(compare(sides.a, sides.b), compare(sides.b, sides.a));
    const Pair blocks = in_blocks(runs, 0.02, 0.003);
    check_mirror(compare(blocks.a, blocks.b), compare(blocks.b, blocks.a));
  }
  const Pair sides = in_turns(5, 0.1);
  const std::vector<Run> fewer(sides.b.begin(), sides.b.begin() + 2);
  check_mirror(compare(sides.a, fewer), compare(fewer, sides.a));
}

TEST_CASE("the order in which the runs of a side are named does not matter") {
  const Pair sides = in_turns(5, 0.1);
  const std::vector<Run> turned(sides.a.rbegin(), sides.a.rend());
  const Comparison one = compare(sides.a, sides.b), other = compare(turned, sides.b);
  CHECK(line_of_stage(one, CompareFigure::kWall).change == line_of_stage(other, CompareFigure::kWall).change);
  CHECK(line_of_stage(one, CompareFigure::kWall).p_value == line_of_stage(other, CompareFigure::kWall).p_value);
}

TEST_CASE("several runs in turns: a change of 10 % is found, none is unchanged") {
  const Pair slower = in_turns(5, 0.1), same = in_turns(5, 0);
  const Comparison regressed = compare(slower.a, slower.b);
  CHECK(regressed.basis == CompareBasis::kRuns);
  CHECK(regressed.order == RunOrder::kPairs);
  CHECK(regressed.wander.source == WanderSource::kRuns);
  CHECK(regressed.verdict == CompareVerdict::kRegressed);
  const CompareLine& wall = line_of_stage(regressed, CompareFigure::kWall);
  CHECK(CompareChange::relative(wall.change->log_ratio) == Approx(0.1).margin(0.01));
  CHECK(CompareChange::relative(*wall.change->low) > 0.07);
  CHECK(CompareChange::relative(*wall.change->high) < 0.13);
  CHECK(wall.a->samples == 5);
  CHECK(compare(slower.b, slower.a).verdict == CompareVerdict::kImproved);
  CHECK(compare(same.a, same.b).verdict == CompareVerdict::kUnchanged);
}

TEST_CASE("a change below the minimum effect is real and does not matter; one next to it is undecided") {
  const Pair sides = in_turns(10, 0.005), next_to_it = in_turns(10, 0.0095);
  const Comparison comparison = compare(sides.a, sides.b);
  CHECK(comparison.verdict == CompareVerdict::kUnchanged);
  CHECK(comparison.reason == LineReason::kBelowMinimum);
  const Pair slower = in_turns(10, 0.1);
  CompareOptions generous;
  generous.minimum_effect = 0.2;
  CHECK(compare(slower.a, slower.b).verdict == CompareVerdict::kRegressed);
  CHECK(compare(slower.a, slower.b, generous).reason == LineReason::kBelowMinimum);
  const Comparison close = compare(next_to_it.a, next_to_it.b);
  CHECK(close.verdict == CompareVerdict::kUndecidable);
  CHECK(close.reason == LineReason::kAtMinimum);
}

TEST_CASE("runs that drift: in turns the change is still told, one after the other it is not") {
  const Pair turns = in_turns(6, 0.05, true);
  const Comparison told = compare(turns.a, turns.b);
  CHECK(told.verdict == CompareVerdict::kRegressed);
  CHECK(told.drift_significant);
  CHECK(*told.drift_per_run == Approx(0.01).margin(0.002));
  CHECK(CompareChange::relative(line_of_stage(told, CompareFigure::kWall).change->log_ratio) == Approx(0.05).margin(0.01));
  const Pair blocks = in_blocks(6, 0, 0.01);  // 6 % between the blocks' middles, and no change
  const Comparison refused = compare(blocks.a, blocks.b);
  CHECK(refused.order == RunOrder::kBlocks);
  CHECK(refused.verdict == CompareVerdict::kUndecidable);
  CHECK(refused.reason == LineReason::kDrift);
}

TEST_CASE("one run a side: the spread of its steps, and the basis says that it is one run") {
  const std::vector<Run> a = {made_run(steps_around(1'000'000), kKernels)}, b = {made_run(steps_around(1'300'000, 40, 3), kKernels)};
  const Comparison comparison = compare(a, b);
  CHECK(comparison.basis == CompareBasis::kOneRunEach);
  CHECK(comparison.verdict == CompareVerdict::kRegressed);
  CHECK(line_of_stage(comparison, CompareFigure::kWall).a->samples == 40);
  CHECK(comparison.wander.source == WanderSource::kAssumed);
  CHECK(*comparison.wander.spread == Approx(std::expm1(0.035)));
  const std::vector<Run> close = {made_run(steps_around(1'040'000, 40, 3), kKernels)};
  const Comparison undecided = compare(a, close);
  CHECK(undecided.verdict == CompareVerdict::kUndecidable);  // two runs of one build may differ by as much
  CHECK(undecided.reason == LineReason::kFewRuns);
  CHECK(line_of_stage(undecided, CompareFigure::kWall).runs_to_decide > 5);
}

TEST_CASE("one run a side: what the ledger has of the workload narrows the interval") {
  const std::vector<Run> a = {made_run(steps_around(1'000'000), kKernels)}, b = {made_run(steps_around(1'090'000, 40, 3), kKernels)};
  CHECK(compare(a, b).verdict == CompareVerdict::kUndecidable);
  CompareOptions options;
  options.recorded = [](const Run&, const std::string& stage) {
    CHECK(stage == "decode_step");
    return std::optional(RecordedWander{{0.004, 40}, 61});
  };
  const Comparison told = compare(a, b, options);
  CHECK(told.verdict == CompareVerdict::kRegressed);
  CHECK(told.wander.source == WanderSource::kLedger);
  CHECK(told.wander.runs == 61);
  CHECK(*told.wander.spread < 0.02);
}

TEST_CASE("sequence 64 against 256, one run a side: changes of 108 to 229 % are told") {
  for (const double slower : {1.08, 1.41, 1.96, 2.29}) {
    // ONNX Runtime's iterations wander within a run: a tenth of them take half as long again.
    std::vector<Ns> a, b;
    for (int i = 0; i < 30; ++i) {
      a.push_back(static_cast<Ns>(1e6 * (i % 10 == 0 ? 1.5 : 1 + 0.01 * (i * 7 % 11))));
      b.push_back(static_cast<Ns>(1e6 * (1 + slower) * (i % 10 == 3 ? 1.5 : 1 + 0.01 * (i * 5 % 11))));
    }
    const std::vector<Run> short_ones = {made_run(a)}, long_ones = {made_run(b)};
    CHECK(compare(short_ones, long_ones).verdict == CompareVerdict::kRegressed);
    CHECK(compare(long_ones, short_ones).verdict == CompareVerdict::kImproved);
  }
}

TEST_CASE("two clocks, one run a side on each: not called a change") {
  const std::vector<Run> fast = {made_run(steps_around(1'000'000), kKernels)}, slow = {made_run(steps_around(1'080'000, 40, 3), kKernels)};
  CHECK(compare(fast, slow).verdict == CompareVerdict::kUndecidable);
}

TEST_CASE("B slower in six of six rounds: the rounds are pairs") {
  // Both sides take three times as long in some rounds as in others.
  const double round_s[] = {1.0, 2.9, 1.6, 1.1, 2.2, 1.3}, slower[] = {0.04, 0.55, 0.11, 0.26, 0.18, 0.42};
  Pair sides;
  for (int i = 0; i < 6; ++i) {
    const auto a = static_cast<Ns>(1e9 * round_s[i]), b = static_cast<Ns>(1e9 * round_s[i] * (1 + slower[i]));
    sides.a.push_back(made_run({a}, {}, at_place(2 * i + i % 2)));
    sides.b.push_back(made_run({b}, {}, at_place(2 * i + 1 - i % 2)));
  }
  const Comparison comparison = compare(sides.a, sides.b);
  CHECK(comparison.order == RunOrder::kPairs);
  CHECK(comparison.verdict == CompareVerdict::kRegressed);
  const CompareLine& wall = line_of_stage(comparison, CompareFigure::kWall);
  CHECK(*wall.p_value <= 2.0 / 64);                                   // what the signs alone give
  CHECK(CompareChange::relative(*wall.change->low) == Approx(0.04));  // of six pairs, the range holds the middle in 96.9 %
  CHECK(CompareChange::relative(*wall.change->high) == Approx(0.55));
}

TEST_CASE("the GPU's busy time has a line of its own only where it differs from the sum of its work") {
  Pair sides = in_turns(5, 0.1);
  const auto count = [](const Comparison& comparison, CompareFigure figure) {
    return std::count_if(comparison.stages.lines.begin(), comparison.stages.lines.end(),
                         [&](const CompareLine& line) { return line.figure == figure; });
  };
  CHECK(count(compare(sides.a, sides.b), CompareFigure::kGpuWork) == 1);
  CHECK(count(compare(sides.a, sides.b), CompareFigure::kGpuBusy) == 0);
  *sides.b[4].stages[0].gpu_busy_ns -= 1000;
  CHECK(count(compare(sides.a, sides.b), CompareFigure::kGpuBusy) == 1);
}

TEST_CASE("a decode that improves and a prefill that worsens are both told") {
  Pair sides = in_turns(6, -0.1);
  for (auto* side : {&sides.a, &sides.b})
    for (std::size_t i = 0; i < side->size(); ++i) {
      StageEntry prefill = (*side)[i].stages[0];
      prefill.name = "prefill";
      const double factor = (side == &sides.b ? 1.2 : 1) * (1 + 0.001 * static_cast<double>(i));
      prefill.wall = {1, static_cast<Ns>(2e7 * factor), 2e7 * factor, 2e7 * factor, 0, 0, 0, 0};
      prefill.series = {};
      prefill.budget.reset();
      prefill.gpu_sum_ns.reset();
      prefill.gpu_busy_ns.reset();
      (*side)[i].stages.push_back(prefill);
    }
  const Comparison comparison = compare(sides.a, sides.b);
  CHECK(comparison.verdict == CompareVerdict::kImproved);
  CHECK(line_of_stage(comparison, CompareFigure::kWall, "prefill").reason == LineReason::kDecided);
  const auto changes = headline_changes(comparison);
  REQUIRE(changes.size() == 2);
  CHECK(changes[0]->stage == "decode_step");
  CHECK(changes[1]->stage == "prefill");
  CHECK(changes[1]->verdict == CompareVerdict::kRegressed);
  CHECK(any_regressed(comparison));
}

TEST_CASE("steps that hang together are worth fewer than there are") {
  std::vector<Ns> alone, together;
  for (int i = 0; i < 60; ++i) {
    alone.push_back(1'000'000 + 2'000 * ((i * 37) % 41 - 20));
    together.push_back(1'000'000 + 2'000 * (((i / 10) * 37) % 41 - 20));  // the same ten times over
  }
  const auto width = [&](const std::vector<Ns>& steps) {
    const std::vector<Run> a = {made_run(steps)}, b = {made_run(steps_around(1'300'000, 60))};
    CompareOptions alike;  // runs that hardly differ, so that the steps decide
    alike.recorded = [](const Run&, const std::string&) { return std::optional(RecordedWander{{0.0001, 1e6}, 1000}); };
    const CompareEstimate estimate = *line_of_stage(compare(a, b, alike), CompareFigure::kWall).a;
    return *estimate.high - *estimate.low;
  };
  CHECK(width(together) > 1.5 * width(alone));
}

TEST_CASE("throttled runs are left out, unless all of them are") {
  Pair sides = in_turns(4, 0);
  sides.b.push_back(made_run(steps_around(2'000'000), kKernels, at_place(20)));
  ClockSummary slowed;
  slowed.throttled_share = 0.6;
  sides.b.back().energy.devices = {slowed};
  const Comparison comparison = compare(sides.a, sides.b);
  CHECK(comparison.b.runs.back().left_out);
  CHECK(comparison.b.runs.back().place == 0);
  CHECK(line_of_stage(comparison, CompareFigure::kWall).b->samples == 4);
  CHECK(comparison.reason == LineReason::kTooNoisy);  // of four pairs of steady runs
  const std::vector<Run> only = {sides.b.back()};
  CHECK_FALSE(compare(only, only).a.runs[0].left_out);
}

TEST_CASE("figures that are no numbers count as not captured") {
  Pair sides = in_turns(3, 0);
  for (Run& run : sides.a) run.latency.output_tokens_per_s = std::numeric_limits<double>::quiet_NaN();
  for (Run& run : sides.b) run.latency.output_tokens_per_s = 100;
  sides.a[0].stages[0].wall.median_ns = std::numeric_limits<double>::infinity();
  const Comparison comparison = compare(sides.a, sides.b);
  REQUIRE(comparison.headline.lines.size() == 1);
  CHECK(comparison.headline.lines[0].reason == LineReason::kNotCapturedA);
  CHECK_FALSE(comparison.headline.lines[0].a);
  CHECK(line_of_stage(comparison, CompareFigure::kWall).a->samples == 2);
  CHECK(comparison.basis == CompareBasis::kRuns);
}

TEST_CASE("empty stages, no stages, no runs: nothing is compared") {
  const std::vector<Run> some = {made_run(steps_around(1'000'000))}, empty = {made_run({})}, bare = {Run{}};
  for (const std::vector<Run>& other : {empty, bare, std::vector<Run>()}) {
    const Comparison comparison = compare(some, other);
    CHECK(comparison.verdict == CompareVerdict::kUndecidable);
    CHECK(comparison.reason == LineReason::kNotComparable);
    CHECK(comparison.stages.missing == LineReason::kNotComparable);
    CHECK_FALSE(comparison.waterfall);
  }
  CompareOptions force;
  force.force = true;
  CHECK(compare(some, empty, force).verdict == CompareVerdict::kUndecidable);
}

TEST_CASE("different numbers of steps: a step is compared with a step, decoding as a whole is not") {
  std::vector<Run> a = {made_run(steps_around(1'000'000, 16), kKernels)}, b = {made_run(steps_around(1'000'000, 64, 2), kKernels)};
  for (auto* side : {&a, &b}) {
    StageEntry decode = (*side)[0].stages[0];
    decode.name = "decode";
    decode.tokens_per_window = static_cast<double>(decode.wall.count);
    decode.wall = {3, 3 * decode.wall.total_ns, 0, static_cast<double>(decode.wall.total_ns), 0, 0, 0, 0};
    (*side)[0].stages.push_back(decode);
  }
  const Comparison comparison = compare(a, b);
  CHECK(comparison.main_stage == "decode_step");
  CHECK(comparison.verdict == CompareVerdict::kUndecidable);
  CHECK(line_of_stage(comparison, CompareFigure::kWall, "decode").reason == LineReason::kOtherTokens);
  CHECK_FALSE(comparison.comparability.refused);
}

TEST_CASE("ranges that end before their work does on the GPU are not compared, and that is the reason") {
  std::vector<Run> a = {made_run(steps_around(1'000'000), {{"gemm", 2'000'000}})},
                   b = {made_run(steps_around(2'000'000), {{"gemm", 2'100'000}})};
  for (auto* side : {&a, &b}) {
    TimeSummary& wall = (*side)[0].stages[0].wall;
    wall.mean_ns = static_cast<double>(wall.total_ns) / static_cast<double>(wall.count);
  }
  const CompareLine line = line_of_stage(compare(a, b), CompareFigure::kWall);
  CHECK(line.verdict == CompareVerdict::kUndecidable);
  CHECK(line.reason == LineReason::kRunsOn);
}

TEST_CASE("only the inside of a stage that changed is looked into") {
  const Pair same = in_turns(5, 0), slower = in_turns(5, 0.1);
  const Comparison unchanged = compare(same.a, same.b), regressed = compare(slower.a, slower.b);
  REQUIRE(unchanged.budget.lines.size() == 2);
  for (const CompareLine& line : unchanged.budget.lines) CHECK_FALSE(line.p_value);
  REQUIRE(regressed.budget.lines.size() == 2);
  CHECK(regressed.budget.lines[0].key == "launch_starved_ns");
  CHECK(regressed.budget.lines[0].verdict == CompareVerdict::kRegressed);
  CHECK(regressed.budget.lines[1].reason == LineReason::kNoDifference);  // the kernels took the same
}

TEST_CASE("sections that nobody captured say so, counters of nsys and ncu among them") {
  const Pair sides = in_turns(3, 0);
  const Comparison comparison = compare(sides.a, sides.b);
  CHECK(comparison.nsys_counters.missing == LineReason::kNotCaptured);
  CHECK(comparison.ncu_counters.missing == LineReason::kNotCaptured);
  CHECK(comparison.energy.missing == LineReason::kNotCaptured);
  std::vector<Run> sampled = sides.b;
  for (Run& run : sampled) {
    run.stages[0].sampling = StageSampling{};
    run.stages[0].sampling->values[Metric::kSmActive] = 50;
  }
  CHECK(compare(sides.a, sampled).nsys_counters.missing == LineReason::kNotCapturedA);
  const Comparison both = compare(sampled, sampled);
  REQUIRE(both.nsys_counters.lines.size() == 1);
  CHECK(both.nsys_counters.lines[0].unit == MetricUnit::kPercent);
}

namespace {

// A whole process beside its steps, as `try` adds it; B's take longer to start.
Pair with_processes(Pair sides) {
  for (auto* side : {&sides.a, &sides.b})
    for (std::size_t i = 0; i < side->size(); ++i) {
      const auto length = static_cast<Ns>((side == &sides.a ? 6e9 : 7e9) + 1e8 * static_cast<double>(i * 5 % 7));
      StageEntry& process = (*side)[i].stages.emplace_back();
      process.name = "command";
      process.wall.count = 1;
      process.wall.total_ns = length;
      process.wall.median_ns = process.wall.mean_ns = static_cast<double>(length);
    }
  return sides;
}

}  // namespace

TEST_CASE("a process that takes longer to start is a line of its own, and decides only where nothing is marked") {
  CompareOptions options;
  options.whole_stage = "command";
  Pair sides = with_processes(in_turns(8, 0));
  const Comparison marked = compare(sides.a, sides.b, options);
  CHECK(marked.main_stage == "decode_step");
  CHECK(marked.verdict == CompareVerdict::kUnchanged);
  CHECK(line_of_stage(marked, CompareFigure::kWall, "command").verdict == CompareVerdict::kRegressed);
  for (auto* side : {&sides.a, &sides.b})
    for (Run& run : *side) run.stages.erase(run.stages.begin());
  const Comparison alone = compare(sides.a, sides.b, options);
  CHECK(alone.main_stage == "command");
  CHECK(alone.verdict == CompareVerdict::kRegressed);
}

namespace {

Run unmarked_run(Ns gemm_ns, int place = 1) {
  Run run = test::made_run({1'000'000}, {}, test::at_place(place));
  run.stages.clear();
  for (const auto& [name, time_ns] : {std::pair<const char*, Ns>{"gemm", gemm_ns}, {"softmax", 2'000'000}}) {
    KernelEntry kernel;
    kernel.name = kernel.short_name = name;
    kernel.time.count = 10;
    kernel.time.total_ns = time_ns;
    run.kernels->push_back(kernel);
  }
  return run;
}

}  // namespace

TEST_CASE("compare: captures without a unit of work are refused, and compared by the GPU time of their kernels only where forced") {
  std::vector<Run> a, b;
  for (int i = 0; i < 6; ++i) {
    a.push_back(unmarked_run(8'000'000 + 1000 * i, 2 * i + 1));
    b.push_back(unmarked_run(9'000'000 + 1000 * i, 2 * i + 2));
  }
  const Comparison refused = analysis::compare(a, b);
  CHECK(refused.comparability.refused);
  CHECK(refused.comparability.differences[0].code == DifferenceCode::kNoStage);
  CHECK(refused.verdict == CompareVerdict::kUndecidable);
  CompareOptions force;
  force.force = true;
  const Comparison comparison = analysis::compare(a, b, force);
  CHECK(comparison.comparability.forced);
  CHECK(comparison.main_stage == kWholeCapture);
  CHECK(comparison.verdict == CompareVerdict::kRegressed);
  REQUIRE(comparison.stages.lines.size() == 1);
  CHECK(comparison.stages.lines[0].figure == CompareFigure::kGpuWork);
  REQUIRE(comparison.waterfall);
  CHECK(comparison.waterfall->rows[0].key == "gemm");
  CHECK(comparison.waterfall->rows[0].b_ns - comparison.waterfall->rows[0].a_ns == 1'000'000);

  const Comparison one = analysis::compare(std::span(a).first(1), std::span(b).first(1), force);
  CHECK(one.verdict == CompareVerdict::kUndecidable);
  CHECK(one.reason == LineReason::kFewRuns);
  const Comparison itself = analysis::compare(std::span(a).first(1), std::span(a).first(1));
  CHECK(itself.verdict == CompareVerdict::kUnchanged);
  CHECK(itself.comparability.score == 1);
}

TEST_CASE("compare: two slices of one training, 34 blocks against 30, are not compared by their length") {
  Run steady = unmarked_run(8'000'000), marked = test::made_run({1'000'000}, {{"gemm", 500'000}});
  marked.kernels->back().time.total_ns = 500'000;
  steady.stages = marked.stages;
  steady.stages[0].name = "capture";
  const Comparison like = analysis::compare(std::span(&steady, 1), std::span(&steady, 1));
  CHECK(like.main_stage == "capture");
  CHECK(like.comparability.score == 1);  // a run against itself
  CHECK(like.comparability.differences.empty());
  Run other = steady;
  other.run_id = "another";
  const Comparability found = analysis::compare(std::span(&steady, 1), std::span(&other, 1)).comparability;
  REQUIRE(found.differences.size() == 1);
  CHECK(found.differences[0].code == DifferenceCode::kNoStage);
  CHECK(found.differences[0].severity == Severity::kHigh);
  CHECK(found.refused);
  CompareOptions force;
  force.force = true;
  const Comparison mixed = analysis::compare(std::span(&steady, 1), std::span(&marked, 1), force);
  CHECK(mixed.main_stage == kWholeCapture);
  CHECK(mixed.comparability.differences[0].code == DifferenceCode::kNoCommonStage);
}

TEST_CASE("compare: stages of other names are refused as before, kernels or not") {
  Run a = test::made_run({1'000'000, 1'000'000}, {{"gemm", 500'000}}), b = a;
  b.stages[0].name = "generate";
  CHECK(analysis::compare(std::span(&a, 1), std::span(&b, 1)).comparability.refused);
}

TEST_CASE("compare: with several processes a kernel takes as long as in one of them") {
  Run alone = test::made_run({1'000'000, 1'000'000}, {{"gemm", 500'000}}), both = alone;
  StageEntry& stage = both.stages[0];
  stage.wall.count = 4;  // two windows of each process
  stage.wall.total_ns *= 2;
  stage.devices = {StageDevice{}, StageDevice{}};
  stage.devices[0].pid = 1;
  stage.devices[1].pid = 2;
  stage.devices[1].device = 1;
  KernelEntry second = (*both.kernels)[0];
  second.device = 1;
  both.kernels->push_back(second);
  const Comparison comparison = analysis::compare(std::span(&alone, 1), std::span(&both, 1));
  REQUIRE(comparison.kernels.size() == 1);
  REQUIRE(comparison.kernels[0].pairs.size() == 1);
  CHECK(comparison.kernels[0].pairs[0].a[0].time_ns == Approx(500'000));
  CHECK(comparison.kernels[0].pairs[0].b[0].time_ns == Approx(500'000));
}

TEST_CASE("compare: NCCL is in the bin of communication, and not among the computing kernels as well") {
  Run a = test::made_run({1'000'000}, {{"gemm", 500'000}, {"ncclDevKernel_AllReduce_Sum_bf16_RING_LL", 200'000}}), b = a;
  for (Run* run : {&a, &b}) {
    Budget& budget = *run->stages[0].budget;
    budget.gpu_compute_ns = 500'000;
    budget.communication_ns = 200'000;
  }
  b.run_id = "another";
  const Comparison comparison = analysis::compare(std::span(&a, 1), std::span(&b, 1));
  REQUIRE(comparison.waterfall);
  Ns kernels = 0;
  for (const WaterfallRow& row : comparison.waterfall->rows) {
    if (row.part != WaterfallPart::kBin) kernels += row.a_ns;
    CHECK_FALSE(row.key.starts_with("nccl"));
    if (row.part == WaterfallPart::kOtherKernels) CHECK(row.a_ns == 0);
  }
  CHECK(kernels == 500'000);
}

TEST_CASE("compare: a kernel 85 % shorter does not stand beside the word that its stage did not change") {
  std::vector<Run> a, b;
  for (int i = 0; i < 6; ++i) {  // one kernel of 200 µs is gone from steps of 100 ms: too little for the stage
    a.push_back(test::made_run(test::steps_around(100'000'000, 40, i), {{"softmax", 200'000 + 100 * i}}, test::at_place(2 * i)));
    b.push_back(test::made_run(test::steps_around(100'000'000, 40, i + 1), {{"softmax", 30'000 + 100 * i}}, test::at_place(2 * i + 1)));
  }
  const Comparison comparison = analysis::compare(a, b);
  CHECK(comparison.verdict == CompareVerdict::kUnchanged);
  REQUIRE(comparison.kernels.size() == 1);
  CHECK(comparison.kernels[0].entered);
  CHECK(comparison.kernels[0].pairs[0].line.verdict == CompareVerdict::kImproved);
}

TEST_CASE("compare: counters of kernels that the other side did not measure are shown, and say so") {
  Run a = test::made_run({1'000'000}, {{"gemm", 500'000}}), b = test::made_run({1'000'000}, {{"gemv", 500'000}});
  b.run_id = "another";
  for (Run* run : {&a, &b}) {
    NcuSample sample;
    sample.values[metrics_of(MetricPlace::kLaunch)[0].metric] = 50;
    (*run->kernels)[0].ncu = {sample};
  }
  const Comparison comparison = analysis::compare(std::span(&a, 1), std::span(&b, 1));
  CHECK(comparison.ncu_counters.note == LineReason::kNoCommonKernel);
  REQUIRE(comparison.ncu_counters.lines.size() == 2);
  CHECK(comparison.ncu_counters.lines[0].a.has_value() != comparison.ncu_counters.lines[1].a.has_value());
}
