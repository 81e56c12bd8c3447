#include "analysis/staging/iterations.h"

#include <string>
#include <vector>

#include "parsers/nsys/sqlite.h"
#include "tests/catch.h"
#include "tests/unit/analysis/trace_builder.h"

namespace {

using nl::Ns;
using Mode = nl::analysis::WarmupRule::Mode;

// One prefill and one decode an iteration, of these lengths in all.
TraceBuilder iterations_of(const std::vector<Ns>& walls) {
  TraceBuilder b;
  Ns at = 0;
  for (const Ns wall : walls) {
    b.stage("prefill", at, at + wall / 4);
    b.stage("decode_all", at + wall / 2, at + wall);
    at += wall + 10;
  }
  return b;
}

nl::Run run_with(const TraceBuilder& b, Mode mode, std::uint64_t count = 0) {
  nl::analysis::SummaryOptions options;
  options.warmup.mode = mode;
  options.warmup.count = count;
  return b.run(options);
}

}  // namespace

TEST_CASE("the first iteration of a real capture is recognised as warm-up") {
  const auto trace = nl::parsers::read_nsys_sqlite(NL_FIXTURES "/h200-llama/nsys.sqlite");
  nl::Run run;
  nl::analysis::summarise(trace, {}, run);
  REQUIRE(run.iterations.count == 2);
  CHECK(run.iterations.warmup == 1);
  CHECK(run.iterations.list[0].warmup);
  CHECK_FALSE(run.iterations.list[1].warmup);
  CHECK(run.iterations.list[0].wall_ns > 10 * run.iterations.list[1].wall_ns);
  REQUIRE(run.iterations.list[1].stages.size() == 3);
  CHECK(run.iterations.list[1].stages[0].first == "prefill");
  CHECK(run.iterations.list[1].stages[0].second == stage(run, "prefill").wall.total_ns);
  CHECK(run.iterations.rule.find("1.5 × the median") != std::string::npos);
  CHECK(run.iterations.rule.find("1 of 2") != std::string::npos);
}

TEST_CASE("warm-up is what leads and takes longer, and at most half") {
  CHECK(iterations_of({400, 100, 100, 100}).run().iterations.warmup == 1);
  CHECK(iterations_of({400, 300, 100, 100, 100}).run().iterations.warmup == 2);
  CHECK(iterations_of({100, 400, 100, 100}).run().iterations.warmup == 0);    // an outlier later on is measured
  CHECK(iterations_of({148, 100, 100}).run().iterations.warmup == 0);         // less than 1.5 ×
  CHECK(iterations_of({400, 400, 400, 100}).run().iterations.warmup == 0);    // slower than half of the rest only
  CHECK(iterations_of({6400, 1600, 400, 100}).run().iterations.warmup == 2);  // every one is, but half must stay
  CHECK(iterations_of({6400, 1600, 400}).run().iterations.warmup == 2);
  CHECK(iterations_of({400, 100}).run().iterations.warmup == 1);
}

TEST_CASE("with the only iteration is measured, and the rule says so") {
  const auto run = iterations_of({400}).run();
  CHECK(run.iterations.count == 1);
  CHECK(run.iterations.warmup == 0);
  CHECK(run.iterations.rule.find("the only iteration is measured") != std::string::npos);
  CHECK(stage(run, "prefill").wall.count == 1);
}

TEST_CASE("warm-up by configuration") {
  const auto b = iterations_of({100, 100, 100, 400});
  CHECK(run_with(b, Mode::kNone).iterations.warmup == 0);
  CHECK(run_with(b, Mode::kCount, 3).iterations.warmup == 3);
  const auto all = run_with(b, Mode::kCount, 9);
  CHECK(all.iterations.warmup == 3);
  CHECK(all.iterations.rule.find("the first 9 iterations") != std::string::npos);
  CHECK(all.iterations.rule.find("because one must be measured") != std::string::npos);
  nl::analysis::SummaryOptions strict;
  strict.warmup.factor = 5;
  CHECK(iterations_of({400, 100, 100}).run(strict).iterations.warmup == 0);
}

TEST_CASE("stages leave warm-up out, and say how much") {
  auto b = iterations_of({400, 100, 100});
  b.launch(10, 20, 30);    // in the warm-up's prefill
  b.launch(415, 420, 10);  // in the first measured one
  const auto run = b.run();
  const auto& prefill = stage(run, "prefill");
  CHECK(prefill.wall.count == 2);
  CHECK(prefill.wall.total_ns == 50);
  CHECK(prefill.warmup_windows == 1);
  CHECK(prefill.warmup_wall_ns == 100);
  CHECK(prefill.kernel_calls == 1);
  CHECK(prefill.gpu_sum_ns == 10);
  CHECK(prefill.budget->gpu_compute_ns == 10);
  CHECK(prefill.activity->kernels == 1);
  CHECK(prefill.activity->launches == 1);
  CHECK((*run.kernels)[0].time.count == 2);  // of the whole capture
  CHECK((*run.kernels)[0].stages[0].calls == 2);
  CHECK(run.phases.span_ns == 210);                 // from the second iteration on
  CHECK(*run.phases.gpu_without_range_share == 0);  // warm-up has ranges too
}

TEST_CASE("decode without a range of its own spans its steps") {
  TraceBuilder b;
  for (const Ns at : {0, 1000}) {
    b.stage("prefill", at, at + 100);
    b.stage("decode_step", at + 150, at + 200);
    b.stage("decode_step", at + 220, at + 300);
    b.launch(at + 160, at + 170, 5);
    b.launch(at + 205, at + 210, 5);  // between two steps
  }
  const auto run = b.run();
  const auto& decode = stage(run, "decode");
  CHECK(decode.derived);
  CHECK(decode.ranges.empty());
  CHECK(decode.wall.count == 2);
  CHECK(decode.wall.total_ns == 2 * 150);
  CHECK(decode.kernel_calls == 4);
  CHECK(decode.budget->gpu_compute_ns == 20);
  CHECK(decode.foreign_gpu_ns == 0);
  CHECK(stage(run, "decode_step").kernel_calls == 2);
  CHECK_FALSE(stage(run, "decode_step").derived);
  CHECK(run.iterations.count == 2);
}

TEST_CASE("steps alone are one iteration; a lone stage is one each time") {
  TraceBuilder steps;
  for (Ns at = 0; at < 500; at += 100) steps.stage("decode_step", at, at + 80);
  CHECK(steps.run().iterations.count == 1);
  CHECK(stage(steps.run(), "decode").wall.total_ns == 480);
  TraceBuilder forward;
  for (Ns at = 0; at < 500; at += 100) forward.stage("forward", at, at + 80);
  CHECK(forward.run().iterations.count == 5);
}

TEST_CASE("a capture that begins in the middle of decoding") {
  TraceBuilder b;
  b.stage("decode_step", 0, 50);
  b.stage("decode_step", 60, 100);
  b.stage("prefill", 200, 300);
  b.stage("decode_step", 310, 350);
  b.stage("prefill", 400, 500);
  const auto run = b.run_all();
  REQUIRE(run.iterations.count == 3);
  CHECK(run.iterations.list[0].wall_ns == 100);
  CHECK(run.iterations.list[1].wall_ns == 150);
}

TEST_CASE("what happens once before the first prompt is no iteration") {
  TraceBuilder b;
  b.stage("load", 0, 5000);
  for (const Ns at : {6000, 7000, 8000}) {
    b.stage("prefill", at, at + 100);
    b.stage("decode_all", at + 100, at + 500);
  }
  const auto run = b.run();
  CHECK(run.iterations.count == 3);
  CHECK(stage(run, "load").wall.count == 1);
}

TEST_CASE("each thread has its own iterations and warm-up") {
  TraceBuilder b;
  b.stage("prefill", 0, 400, 0);
  b.stage("prefill", 500, 600, 0);
  b.stage("prefill", 50, 150, 1);
  b.stage("prefill", 200, 300, 1);
  const auto run = b.run();
  REQUIRE(run.iterations.count == 4);
  CHECK(run.iterations.warmup == 1);
  CHECK(run.iterations.list[0].warmup);
  CHECK(run.iterations.list[0].tid == 1000);
  CHECK(run.iterations.rule.find("on thread 1001") != std::string::npos);
  // 400..500 is idle; in 50..150 and 200..300 thread 1 is measured while thread 0 warms up; 150..200 only warms up.
  CHECK(run.phases.span_ns == 100 + 100 + 100 + 100);
}

TEST_CASE("the first window against the rest, and the first of each iteration") {
  TraceBuilder b;
  for (const Ns at : {0, 1000}) {
    b.stage("prefill", at, at + 100);
    b.stage("decode_all", at + 100, at + 500);
    b.stage("decode_step", at + 100, at + 200 + at / 100);
    b.stage("decode_step", at + 250, at + 280);
    b.stage("decode_step", at + 300, at + 330);
  }
  const auto steps = stage(b.run(), "decode_step");
  CHECK(steps.first_window_ns == 100);
  CHECK(*steps.rest_median_ns == 30);
  CHECK(*steps.first_in_iteration_ns == 105);
  CHECK(*steps.later_in_iteration_ns == 30);
  CHECK(steps.longest_window_start_ns == 1100);
  CHECK(steps.longest_window_end_ns == 1210);
  CHECK_FALSE(stage(b.run(), "prefill").first_in_iteration_ns);
}

TEST_CASE("very many iterations are counted, and the first are listed") {
  TraceBuilder b;
  for (Ns at = 0; at < 3000; ++at) b.stage("forward", at * 10, at * 10 + 8);
  const auto run = b.run();
  CHECK(run.iterations.count == 3000);
  CHECK(run.iterations.list.size() == nl::kMaxListedIterations);
}

TEST_CASE("the rule of warm-up names the first four threads, and one that nobody knows") {
  TraceBuilder b;
  for (int i = 0; i < 4; ++i) b.thread(0);
  for (std::uint32_t thread = 0; thread < 3; ++thread) b.stage("prefill", 10, 20, thread);
  b.stage("prefill", 10, 20, 99);
  const std::string four = b.run_all().iterations.rule;
  CHECK(four ==
        "the configuration sets no warm-up: 1 measured on thread 1000; 1 measured on thread 1001; 1 measured on thread 1002; 1 measured on "
        "an unknown thread");
  b.stage("prefill", 10, 20, 3);
  b.stage("prefill", 10, 20, 4);
  const std::string six = b.run_all().iterations.rule;
  CHECK(six.ends_with("1 measured on thread 1003; and 2 more threads"));
  TraceBuilder one;
  one.stage("prefill", 10, 20);
  CHECK(one.run_all().iterations.rule == "the configuration sets no warm-up: 1 measured");
  CHECK(TraceBuilder().run_all().iterations.rule == "no iterations: the capture has no closed stage ranges");
}

TEST_CASE("warm-up by number, by time, and never all") {
  using nl::analysis::judge_warmup;
  using Rule = nl::analysis::WarmupRule;
  const auto warmup = [](const std::vector<Ns>& walls, Rule::Mode mode, std::uint64_t count = 0, double factor = 1.5) {
    return judge_warmup(walls, {mode, count, factor});
  };
  const std::vector<Ns> slow_start = {5'000'000, 2'000'000, 1'000'000, 1'000'000, 1'000'000};
  CHECK(warmup(slow_start, Rule::Mode::kAuto).warmup == 2);
  CHECK(warmup(slow_start, Rule::Mode::kAuto).why == "2 of 5 (first 5.000 ms, median of the measured 1.000 ms)");
  CHECK(warmup(slow_start, Rule::Mode::kAuto, 0, 2.0).warmup == 1);  // 2 is not more than twice 1
  CHECK(warmup({1'500'000, 1'000'000, 1'000'000}, Rule::Mode::kAuto).why == "none of 3 (first 1.500 ms, median of the others 1.000 ms)");
  CHECK(warmup({1'000'000, 1'000'000, 2'000'000, 9'000'000}, Rule::Mode::kAuto).why ==
        "none of 4 (first 1.000 ms, median of the others 2.000 ms)");
  CHECK(warmup({1'000'000, 1'000'000, 2'000'000}, Rule::Mode::kAuto).why == "none of 3 (first 1.000 ms, median of the others 1.500 ms)");
  CHECK(warmup({7}, Rule::Mode::kAuto).why == "the only iteration is measured");
  CHECK(warmup({900, 80, 7, 1}, Rule::Mode::kAuto).warmup == 2);  // at most half of them
  CHECK(warmup({900, 80, 7, 1, 1}, Rule::Mode::kAuto).warmup == 3);
  CHECK(warmup({10, 1}, Rule::Mode::kAuto).warmup == 1);
  CHECK(warmup(slow_start, Rule::Mode::kCount, 2).why == "2 of 5");
  CHECK(warmup(slow_start, Rule::Mode::kCount, 5).warmup == 4);
  CHECK(warmup(slow_start, Rule::Mode::kCount, 5).why == "4 of 5, because one must be measured");
  CHECK(warmup(slow_start, Rule::Mode::kCount, 4).why == "4 of 5");
  CHECK(warmup(slow_start, Rule::Mode::kNone).warmup == 0);
  CHECK(nl::analysis::warmup_rule_text({Rule::Mode::kCount, 3, 1.5}) == "the configuration sets the first 3 iterations as warm-up");
  CHECK(nl::analysis::warmup_rule_text({}) ==
        "leading iterations longer than 1.5 × the median of the later ones are warm-up, at most half of all");
}

TEST_CASE("what lies inside a step leads nothing, wherever it ends") {
  TraceBuilder b;
  b.stage("decode_step", 0, 100);  // the capture begins in the middle of an iteration
  b.stage("sampling", 10, 20);
  b.stage("stop", 50, 100);
  b.stage("prefill", 200, 300);
  b.stage("decode_step", 300, 400);
  b.stage("sampling", 310, 320);
  b.stage("prefill", 500, 600);
  const auto run = b.run_all();
  REQUIRE(run.iterations.list.size() == 3);
  CHECK(run.iterations.list[0].start_ns == 0);
  CHECK(run.iterations.list[1].start_ns == 200);
  CHECK(run.iterations.list[1].wall_ns == 200);
  CHECK(run.iterations.list[2].start_ns == 500);
}
