#include <algorithm>

#include "model/words.h"
#include "parsers/collector/trace.h"
#include "tests/catch.h"
#include "tests/unit/analysis/trace_builder.h"
#include "tests/unit/unpacked.h"

using namespace nl;
using namespace nl::parsers;
using namespace nl::analysis;

TEST_CASE("the clocks' error is the wider of its two bounds, and a share of the shortest stage") {
  TraceBuilder builder;
  builder.stage("prefill", 0, 1'000'000);
  builder.stage("decode_all", 1'000'000, 1'400'000);
  builder.trace.clock = ClockBounds{1500, 2000, 0};
  const Run run = builder.run_all();
  CHECK(run.clock.error_ns == 2000);
  CHECK(run.clock.launch_slack_ns == 1500);
  CHECK(run.clock.wait_slack_ns == 2000);
  CHECK(run.clock.shortest_stage == "decode");
  CHECK(run.clock.shortest_stage_ns == 400'000.0);
  CHECK(*run.clock.share_of_shortest_stage == 0.005);
  CHECK(run.import_stats.notes == builder.trace.stats.notes);  // the reader of the capture and the reports say it, each once
}

TEST_CASE("clocks that contradict themselves are no better than the contradiction") {
  TraceBuilder builder;
  builder.stage("prefill", 0, 1'000'000);
  builder.trace.clock = ClockBounds{-9000, 2000, 3};  // kernels start before their launch, by more than any one error explains
  const Run run = builder.run_all();
  CHECK(run.clock.error_ns == 9000);
  CHECK(run.clock.contradictions == 3);
  builder.trace.clock = ClockBounds{-1000, 2000, 3};  // the GPU's times are 1 to 2 us early
  CHECK(builder.run_all().clock.error_ns == 2000);
}

TEST_CASE("without a bound from both sides, or without stages, nothing is claimed") {
  TraceBuilder builder;
  CHECK_FALSE(builder.run_all().clock.error_ns);
  builder.trace.clock = ClockBounds{1500, {}, 0};
  builder.stage("prefill", 0, 1'000'000);
  CHECK_FALSE(builder.run_all().clock.error_ns);
  CHECK_FALSE(builder.run_all().clock.share_of_shortest_stage);
  CHECK(builder.run_all().clock.launch_slack_ns == 1500);
  builder.trace.ranges.clear();
  builder.trace.clock->wait_slack_ns = 10;
  const Run run = builder.run_all();
  CHECK(run.clock.error_ns == 1500);
  CHECK(run.clock.shortest_stage.empty());
  CHECK(run.import_stats.notes.empty());
}

TEST_CASE("on an H200 the clocks fit to less than a hundredth of the shortest stage") {
  const Unpacked file(NL_FIXTURES "/h200-collector/llm-torch.nltrace.gz");
  const Trace trace = read_collector_traces({file.file});
  REQUIRE(trace.clock);
  Run run;
  summarise(trace, {}, run);
  INFO(text_of(run.import_stats.notes.back()));
  REQUIRE(run.clock.share_of_shortest_stage);
  CHECK(*run.clock.share_of_shortest_stage < 0.01);  // the aim
  CHECK(run.clock.contradictions == 0);
  CHECK(std::any_of(run.import_stats.notes.begin(), run.import_stats.notes.end(),
                    [](const Remark& note) { return text_of(note).starts_with("Clocks of CPU and GPU: at most "); }));
}
