#include "analysis/staging/traced_steps.h"

#include "analysis/staging/staged_trace.h"
#include "tests/unit/analysis/duty_run.h"

using namespace nl;
using namespace nl::analysis;

TEST_CASE("traced steps: ranges that were traced from their beginning to their end stay") {
  DutyRun made;
  made.steps("decode_step", 3, true);
  made.steps("decode_step", 20, false);
  const Ns second = made.now_ns;
  made.steps("decode_step", 2, true);
  made.stage("decode_all", 999'000, made.now_ns);
  made.range("", "norm", second + 10, second + 20);
  made.range("", "loader", 1'000'000 + 5 * 1'050'000, 1'000'000 + 5 * 1'050'000 + 10);
  made.range("LLM", "prefill", second + 30, 0, 0, RangeStyle::kPushPop, true);
  keep_traced_steps(made.trace, kKeepWarmup);
  CHECK(made.starts("decode_step") == std::vector<Ns>{1'000'000, 2'050'000, 3'100'000, second, second + 1'050'000});
  CHECK(made.starts("norm") == std::vector<Ns>{second + 10});
  CHECK(made.starts("loader").empty());
  CHECK(made.starts("decode_all").empty());
  CHECK(made.starts("prefill").empty());
  CHECK(made.trace.duty->windows.size() == 26);  // decode_all among them
  CHECK(made.windows(WindowTracing::kTraced) == 5);
  CHECK(made.windows(WindowTracing::kUntraced) == 21);
}

TEST_CASE("traced steps: a second time changes nothing, and neither does a trace without spans or stages") {
  DutyRun made;
  made.steps("decode_step", 3, true);
  made.steps("decode_step", 3, false);
  keep_traced_steps(made.trace, kKeepWarmup);
  keep_traced_steps(made.trace, kKeepWarmup);
  CHECK(made.trace.ranges.size() == 3);
  CHECK(made.trace.duty->windows.size() == 6);

  TraceBuilder all;
  all.stage("decode_step", 10, 20);
  keep_traced_steps(all.trace, kKeepWarmup);
  CHECK(all.trace.ranges.size() == 1);
  CHECK_FALSE(has_traced_steps(all.trace));

  DutyRun unmarked;
  unmarked.span(0, 100);
  unmarked.range("", "something", 200, 300);
  keep_traced_steps(unmarked.trace, kKeepWarmup);
  CHECK(unmarked.trace.ranges.size() == 1);
  CHECK_FALSE(has_traced_steps(unmarked.trace));
}

TEST_CASE("traced steps: where tracing never paused by duty, the trace is one of all steps") {
  const auto made = [](bool pauses) {
    DutyRun run;
    run.range("", "start-up", 10, 20);
    run.steps("decode_step", 6, true);
    if (pauses) run.steps("decode_step", 1, false);
    return run;
  };
  DutyRun whole = made(false), window = made(false), paused = made(true);
  keep_traced_steps(whole.trace, kKeepWarmup, PausedBy::kDuty);
  CHECK_FALSE(whole.trace.duty);
  CHECK(whole.trace.ranges.size() == 7);
  keep_traced_steps(window.trace, kKeepWarmup, PausedBy::kWindow);
  CHECK(has_traced_steps(window.trace));
  CHECK(window.starts("start-up").empty());
  keep_traced_steps(paused.trace, kKeepWarmup, PausedBy::kDuty);
  CHECK(has_traced_steps(paused.trace));
  CHECK(paused.windows(WindowTracing::kTraced) == 6);
}

TEST_CASE("traced steps: a step over the end of a span is cut, and one that began before it was not traced") {
  DutyRun made;
  made.span(0, 500);
  made.span(2000, 3000);
  made.stage("decode_step", 100, 200);
  made.stage("decode_step", 400, 501);
  made.stage("decode_step", 1999, 2100);
  made.stage("decode_step", 2200, 3000);
  keep_traced_steps(made.trace, kKeepWarmup);
  CHECK(made.starts("decode_step") == std::vector<Ns>{100, 2200});
  CHECK(made.windows(WindowTracing::kCut) == 1);
  CHECK(made.windows(WindowTracing::kUntraced) == 1);
}

TEST_CASE("traced steps: what begins when no step is traced any more does not count, however short") {
  DutyRun made;
  made.span(0, 1000, 600);
  made.stage("decode_step", 100, 950);
  made.stage("prefill", 590, 700, 1);
  made.stage("prefill", 710, 720, 1);
  keep_traced_steps(made.trace, kKeepWarmup);
  CHECK(made.starts("decode_step") == std::vector<Ns>{100});
  CHECK(made.starts("prefill") == std::vector<Ns>{590});
  CHECK(made.windows(WindowTracing::kUntraced) == 1);
}

TEST_CASE("traced steps: those that begin while unseen work runs are left out") {
  const auto left_of = [](Ns late_ns) {
    DutyRun made;
    made.steps("decode_step", 3, true);
    made.steps("decode_step", 9, false);
    made.steps("decode_step", 3, true, DutyRun::kStepNs, late_ns);
    keep_traced_steps(made.trace, kKeepWarmup);
    return std::pair(made.starts("decode_step").size() - 3, made.windows(WindowTracing::kUnseen));
  };
  CHECK(left_of(0) == std::pair<std::size_t, int>{3, 0});
  CHECK(left_of(10'000) == std::pair<std::size_t, int>{3, 0});  // the launch itself
  CHECK(left_of(30'000) == std::pair<std::size_t, int>{2, 1});
  CHECK(left_of(1'100'000) == std::pair<std::size_t, int>{1, 2});  // work of more than a step
}

TEST_CASE("traced steps: without calls it is not known what a kernel waited for") {
  DutyRun made;
  made.steps("decode_step", 3, true);
  made.steps("decode_step", 9, false);
  made.steps("decode_step", 3, true);
  for (Kernel& kernel : made.trace.kernels) kernel.api = kNone;
  keep_traced_steps(made.trace, kKeepWarmup);
  CHECK(made.windows(WindowTracing::kUnseen) == 1);  // in the first span nothing ran before
}

TEST_CASE("traced steps: processes without spans keep all") {
  DutyRun made;
  const std::uint32_t other = made.thread(made.process());
  made.steps("decode_step", 2, true);
  made.steps("decode_step", 2, false);
  made.stage("request", 0, 9'000'000, other);
  keep_traced_steps(made.trace, kKeepWarmup);
  CHECK(made.starts("request").size() == 1);
  CHECK(made.starts("decode_step").size() == 2);
}

TEST_CASE("traced steps: warm-up iterations are left out by the walls of all their steps") {
  DutyRun made;
  made.steps("prefill", 1, true, 50'000'000);  // the first prompt, cold
  made.steps("decode_step", 4, true);
  for (int i = 0; i < 5; ++i) {
    made.steps("prefill", 1, true);
    made.steps("decode_step", 4, i % 2 == 0);
  }
  keep_traced_steps(made.trace, {});
  CHECK(made.starts("prefill").size() == 5);
  CHECK(made.starts("decode_step").size() == 12);
  int warmup = 0;
  for (const SampledWindow& window : made.trace.duty->windows) warmup += window.warmup;
  CHECK(warmup == 5);
}

TEST_CASE("traced steps: those that are always traced are needed only where few others were drawn") {
  const auto kept = [](std::size_t rows) {
    DutyRun made;
    made.steps("decode_step", 4, true);
    for (std::size_t i = 0; i < rows; ++i) {
      made.steps("decode_step", 10, false);
      made.steps("decode_step", 2, true);
    }
    keep_traced_steps(made.trace, kKeepWarmup);
    return made.starts("decode_step").size();
  };
  CHECK(kept(kEnoughRows - 1) == 4 + 2 * (kEnoughRows - 1));
  CHECK(kept(kEnoughRows) == 2 * kEnoughRows);
}

TEST_CASE("traced steps: what is between them belongs to no iteration, no phase and no decode") {
  DutyRun made;
  made.steps("prefill", 1, true);
  made.steps("decode_step", 4, true);
  made.steps("decode_step", 40, false);
  made.steps("decode_step", 4, true);
  keep_traced_steps(made.trace, kKeepWarmup);
  const Run run = made.run_all();
  CHECK(run.phases.phases.empty());
  CHECK(run.iterations.count == 0);
  REQUIRE(run.stages.size() == 2);
  const StageEntry& step = stage(run, "decode_step");
  CHECK(step.wall.count == 8);
  CHECK(step.warmup_windows == 0);
  CHECK(step.kernel_calls == 8);
  REQUIRE(step.budget);
  CHECK(step.budget->wall_ns == 8 * DutyRun::kStepNs);
  CHECK(step.budget->gpu_compute_ns == 4 * DutyRun::kStepNs);
  CHECK(step.budget->sum_ns() == step.budget->wall_ns);
  REQUIRE(run.latency.tpot);
  CHECK(run.latency.tpot->median_ns == DutyRun::kStepNs);
}
