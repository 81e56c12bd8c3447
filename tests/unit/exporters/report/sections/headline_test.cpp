#include "exporters/report/sections/executive_summary.h"

#include "tests/catch.h"

// The figures to see first, and what tracing added to them.
using namespace nl;
using namespace nl::exporters::report;

namespace {

TimeSummary equal_times(std::uint64_t count, Ns each) {
  const auto ns = static_cast<double>(each);
  return {count, each * static_cast<Ns>(count), ns, ns, each, each, each, 0};
}

StageSlowdown bare_median(const char* stage, double ns, PassKind profiler = PassKind::kNsys) {
  StageSlowdown out;
  out.profiler = profiler;
  out.stage = stage;
  out.bare_ns = {ns};
  return out;
}

// Two iterations: a prefill of 10 ms, a decode of 40 ms with 4 steps of 10 ms that make a token each.
Run two_iterations() {
  Run run;
  run.stages.resize(3);
  run.stages[0].name = "prefill";
  run.stages[0].wall = equal_times(2, 10'000'000);
  run.stages[1].name = "decode";
  run.stages[1].wall = equal_times(2, 40'000'000);
  run.stages[1].tokens_per_window = 4;
  run.stages[2].name = "decode_step";
  run.stages[2].wall = equal_times(8, 10'000'000);
  run.latency.prefill = equal_times(2, 10'000'000);
  run.latency.tpot = equal_times(2, 10'000'000);
  run.latency.output_tokens_per_s = 80;  // 8 tokens in 100 ms
  return run;
}

}  // namespace

TEST_CASE("headline: without an unprofiled pass there is the traced figure only") {
  const Run run = two_iterations();
  CHECK(first_token(run).what == "Prefill time");
  CHECK(first_token(run).traced == 10e6);
  CHECK_FALSE(first_token(run).unprofiled);
  CHECK(first_token(run).best() == 10e6);
  CHECK(per_token(run).best() == 10e6);
  CHECK(output_rate(run).best() == 80);
  const Run none;
  for (const Headline& figure : {first_token(none), per_token(none), output_rate(none)}) {
    CHECK_FALSE(figure.best());
    CHECK(figure.times == nullptr);
  }
  Run empty = run;
  empty.latency.prefill->count = 0;
  CHECK_FALSE(first_token(empty).best());
}

TEST_CASE("headline: a decode that was not timed unprofiled is known by its steps") {
  Run run = two_iterations();
  run.perturbation.stages = {bare_median("decode_step", 8e6)};
  // Four steps a window, 2 ms less each: 32 of 40 ms.
  CHECK(per_token(run).unprofiled.value() == Approx(8e6));
  CHECK_FALSE(output_rate(run).unprofiled);  // of prefill nothing is known
  run.perturbation.stages.push_back(bare_median("prefill", 10e6));
  CHECK(output_rate(run).unprofiled.value() == Approx(8 / 0.084));
  run.stages.erase(run.stages.begin());
  run.perturbation.stages.pop_back();
  CHECK(output_rate(run).unprofiled.value() == Approx(8 / 0.084));
}

TEST_CASE("headline: neither ncu's passes nor those of other stages are taken") {
  Run run = two_iterations();
  run.perturbation.stages = {bare_median("prefill", 1e6, PassKind::kNcu), bare_median("other", 2e6), StageSlowdown{}};
  run.perturbation.stages[2].stage = "prefill";  // without a time
  CHECK_FALSE(first_token(run).unprofiled);
  run.perturbation.stages.push_back(bare_median("prefill", 9e6));
  CHECK(first_token(run).unprofiled == 9e6);
  CHECK_FALSE(per_token(run).unprofiled);
}

TEST_CASE("headline: where something comes before the prompt's window, its time is not that of prefill") {
  Run run = two_iterations();
  run.perturbation.stages = {bare_median("prefill", 9e6)};
  run.latency.prefill = equal_times(2, 10'090'000);  // within a hundredth
  CHECK(first_token(run).unprofiled == 9.09e6);
  run.latency.prefill = equal_times(2, 10'200'000);
  CHECK_FALSE(first_token(run).unprofiled);
  run.latency.ttft = equal_times(2, 12'000'000);
  CHECK(first_token(run).what == "Time to first token");
  CHECK(first_token(run).best() == 12e6);
}

TEST_CASE("headline: a time that cannot be is left out") {
  Run run = two_iterations();
  run.perturbation.stages = {bare_median("decode", 0), bare_median("prefill", 10e6)};
  CHECK_FALSE(per_token(run).unprofiled);  // all of it would be overhead
  run.perturbation.stages[0].bare_ns = {-10e6};
  CHECK_FALSE(output_rate(run).unprofiled);
  run.perturbation.stages[0].bare_ns = {20e6};
  CHECK(output_rate(run).unprofiled.value() == Approx(8 / 0.06));
  run.stages[1].tokens_per_window.reset();
  CHECK_FALSE(output_rate(run).unprofiled);
  run.latency.output_tokens_per_s = 0;
  CHECK_FALSE(output_rate(run).unprofiled);
}

TEST_CASE("headline: whose tokens are counted") {
  Run run = two_iterations();
  run.latency.batch = 1;
  CHECK(whose_tokens(run) == "");
  run.latency.batch = 2.5;
  CHECK(whose_tokens(run) == "all 2.50 sequences");
  run.latency.batch.reset();
  CHECK(whose_tokens(run) == "one sequence");
  run.stages[1].tokens_per_window = 8;
  CHECK(whose_tokens(run) == "all sequences");
  for (auto& stage : run.stages) stage.source = StageSource::kEngine;
  CHECK(per_token(run).what == "Time per output token of each sequence (engine)");
  CHECK(output_rate(run).what == "Output tokens per second, all sequences (engine)");
  run.latency.tpot.reset();
  CHECK(per_token(run).what == "Time per output token (engine)");
  run.latency.output_tokens_per_s.reset();
  CHECK(output_rate(run).what == "Output tokens per second (engine)");
}
