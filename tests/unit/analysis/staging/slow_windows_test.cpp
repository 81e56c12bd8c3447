#include "analysis/staging/windows.h"

#include "analysis/verdicts/rules/judge.h"
#include "tests/catch.h"
#include "tests/unit/analysis/trace_builder.h"
#include "tests/unit/analysis/verdicts/rules/made_rule.h"

using namespace nl;
using namespace nl::analysis;

namespace {

constexpr Ns kShortStepNs = 1000, kLoadingNs = 40'000;

// Ten steps, each with a kernel of 400 ns that starts 300 ns after its launch could have come. In two of them a module is loaded
// before the launch.
TraceBuilder loading_steps(bool other_calls = true) {
  TraceBuilder b;
  Ns at = 10'000;
  b.range("LLM", "decode", at, at + 8 * kShortStepNs + 2 * (kShortStepNs + kLoadingNs));
  for (int i = 0; i < 10; ++i) {
    const bool loads = i == 2 || i == 6;
    const Ns wall = kShortStepNs + (loads ? kLoadingNs : 0), launch = at + wall - 700;
    b.range("LLM", "decode_step", at, at + wall);
    if (loads && other_calls) {
      ApiCall outer, inner;
      outer.start_ns = at + 50;
      outer.duration_ns = static_cast<std::uint64_t>(kLoadingNs);
      outer.name = b.trace.strings.intern("cudaFuncGetAttributes_v3020");
      inner = outer;
      inner.start_ns += 10;
      inner.duration_ns -= 20;
      inner.name = b.trace.strings.intern("cuLibraryLoadData");
      b.trace.other_calls.insert(b.trace.other_calls.end(), {outer, inner});
    }
    b.kernel("k", launch + 2, 400, b.call(launch));
    at += wall;
  }
  return b;
}

const StageEntry& loading_entry(const Run& run) { return stage(run, "decode_step"); }

}  // namespace

TEST_CASE("slow windows have a budget of their own, and the calls in them that load GPU code") {
  const Run run = loading_steps().run_all();
  const StageEntry& steps = loading_entry(run);
  REQUIRE(steps.wall.count == 10);
  REQUIRE(steps.slow_windows);
  CHECK(steps.slow_windows->count == 2);
  CHECK(steps.slow_windows->budget.wall_ns == 2 * (kShortStepNs + kLoadingNs));
  CHECK(steps.slow_windows->budget.gpu_compute_ns == 2 * 400);
  CHECK(steps.slow_windows->budget.sum_ns() == steps.slow_windows->budget.wall_ns);
  CHECK(steps.slow_windows->budget.launch_wait_ns() > 2 * kLoadingNs);
  CHECK(steps.slow_windows->module_loads == 2u);  // a call inside another counts once
  CHECK(steps.slow_windows->module_load_ns == 2 * kLoadingNs);
  CHECK(steps.budget->sum_ns() == steps.budget->wall_ns);
  CHECK_FALSE(stage(run, "decode").slow_windows);

  const Run work_only = loading_steps(false).run_all();
  REQUIRE(loading_entry(work_only).slow_windows);
  CHECK_FALSE(loading_entry(work_only).slow_windows->module_loads);
}

TEST_CASE("slow windows without a call that loads code count as the others: launches in time may save them") {
  Run run = loading_steps(false).run_all();
  const auto judged = [&](const char* gain) {
    run.findings.clear();
    RuleSpec spec = nl::test::made_rule(RuleScope::kStage, "slow_windows == 2 and slow_window_share == 0 and not slow_by_loading", gain);
    spec.where = nl::test::rule_text("kind == \"step\"");
    judge({{spec}}, run);
    REQUIRE(run.findings.size() == 1);
    return *run.findings[0].gain_per_window_ns;
  };
  CHECK(judged("usual_launch_wait_time") == judged("launch_wait_time"));
  for (StageEntry& stage : run.stages)
    if (stage.slow_windows) stage.slow_windows->module_loads = 0;  // such calls were captured, and there is none
  CHECK(judged("usual_launch_wait_time") == judged("launch_wait_time"));
}

TEST_CASE("of a few windows none is slow, nor in warm-up") {
  const auto slow = [](std::size_t count, bool warmup) -> bool {
    std::vector<Window> windows(count);
    for (std::size_t i = 0; i < count; ++i) {
      windows[i].end_ns = i == 0 ? 1000 : 100;
      windows[i].stage = 0;
      windows[i].warmup = i == 0 && warmup;
    }
    return slow_windows(windows, 1).front();
  };
  CHECK(slow(kEnoughWindows, false));
  CHECK_FALSE(slow(kEnoughWindows - 1, false));
  CHECK_FALSE(slow(kEnoughWindows + 1, true));
}

TEST_CASE("what launches in time would save is what the usual window waits, not what a few wait for code") {
  const auto judged = [](const char* condition, const char* gain) {
    Run run = loading_steps().run_all();
    RuleSpec spec = nl::test::made_rule(RuleScope::kStage, condition, gain);
    spec.where = nl::test::rule_text("kind == \"step\"");
    judge({{spec}}, run);
    REQUIRE(run.findings.size() == 1);
    return *run.findings[0].gain_per_window_ns;
  };
  CHECK(judged("total_time > 0", "launch_wait_time") > kLoadingNs / 5);
  const double usual_ns = judged("usual_launch_wait_share < 65% and usual_compute_share > 35%", "usual_launch_wait_time");
  CHECK(usual_ns < 0.65 * kShortStepNs);
  CHECK(usual_ns > 0);
  CHECK(judged("slow_windows == 2 and slow_by_loading and slow_window_share > 80% and module_loads == 2", "usual_time") ==
        Approx(kShortStepNs));
  CHECK(judged("module_load_time > 0", "total_time - usual_time") == Approx(2 * kLoadingNs / 10));
}
