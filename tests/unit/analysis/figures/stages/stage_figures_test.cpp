#include <tuple>
#include <utility>

#include "analysis/figures/efficiency/efficiency.h"
#include "tests/catch.h"
#include "tests/unit/analysis/trace_builder.h"

using nl::Ns;

namespace {

// A run of so many windows of each stage.
nl::Run run_of_windows(std::uint64_t decodes, std::uint64_t steps) {
  nl::Run run;
  const std::pair<const char*, std::uint64_t> stages[] = {{"prefill", 1}, {"decode", decodes}, {"decode_step", steps}};
  for (const auto& [name, count] : stages) {
    run.stages.emplace_back().name = name;
    run.stages.back().wall.count = count;
  }
  return run;
}

}  // namespace

TEST_CASE("iterations are listed with their start, length, thread, process and stages") {
  TraceBuilder b;
  const auto thread = b.thread(b.process());
  b.stage("prefill", 1000, 1100, thread);
  b.stage("decode_all", 1200, 1500, thread);
  b.stage("prefill", 100, 150);
  b.stage("decode_all", 160, 200);
  b.stage("decode_all", 210, 220);
  const auto run = b.run_all();
  REQUIRE(run.iterations.list.size() == 2);
  const nl::Iteration &first = run.iterations.list[0], &second = run.iterations.list[1];
  CHECK(std::tuple(first.start_ns, first.wall_ns, first.tid, first.pid) == std::tuple(100, 120, 1000u, 100u));
  CHECK(std::tuple(second.start_ns, second.wall_ns, second.tid, second.pid) == std::tuple(1000, 500, 1002u, 101u));
  using Stages = std::vector<std::pair<std::string, Ns>>;
  CHECK(Stages(first.stages.begin(), first.stages.end()) == Stages{{"prefill", 50}, {"decode", 50}});
  CHECK(Stages(second.stages.begin(), second.stages.end()) == Stages{{"prefill", 100}, {"decode", 300}});
}

TEST_CASE("the first window of a stage is the earliest, on whichever thread, and the longest is found in any place") {
  TraceBuilder b;
  b.stage("prefill", 500, 510, 0);
  b.stage("prefill", 100, 130, 1);
  b.stage("prefill", 600, 690, 1);
  b.stage("prefill", 700, 760, 1);
  const auto run = b.run_all();
  const auto& prefill = stage(run, "prefill");
  CHECK(prefill.first_window_ns == 30);
  CHECK(prefill.longest_window_start_ns == 600);
  CHECK(prefill.longest_window_end_ns == 690);
  CHECK(prefill.wall.total_ns == 10 + 30 + 90 + 60);
}

TEST_CASE("the longest gap is the longest, and the first of those that are equally long") {
  TraceBuilder b;
  b.stage("prefill", 0, 200);
  for (const Ns at : {0, 30, 80, 130, 160}) b.launch(at, at, 10);  // gaps of 20, 40, 40, 20 and 30
  const auto run = b.run_all();
  CHECK(stage(run, "prefill").activity->longest_gap_ns == 40);
  CHECK(stage(run, "prefill").activity->longest_gap_at_ns == 40);
}

TEST_CASE("marks that say what the configuration says are no contradiction, and one is named once") {
  TraceBuilder b;
  for (const Ns at : {0, 1000}) {
    b.stage("prefill", at, at + 100);
    b.stage("decode_all", at + 100, at + 500);
  }
  b.mark("LLM", "tokens prompt=16 batch=2", 0);
  b.mark("LLM", "tokens prompt=16 batch=4", 900);
  b.mark("LLM", "tokens prompt=16 batch=8", 950);
  nl::analysis::SummaryOptions options;
  options.tokens = {2, 16, {}};
  const auto run = b.run(options);
  std::size_t contradictions = 0;
  for (const auto& note : run.latency.notes) contradictions += note.find("the model configuration says") != std::string::npos;
  CHECK(contradictions == 1);
}

TEST_CASE("token lengths: steps are those of one decode, else of one measured iteration, else the model's") {
  using nl::analysis::token_lengths;
  nl::analysis::LlmShape shape;
  CHECK(token_lengths(run_of_windows(4, 12), shape).steps == 3.0);
  CHECK(token_lengths(run_of_windows(4, 12), shape).assumptions.empty());
  CHECK(token_lengths(run_of_windows(4, 14), shape).assumptions.size() == 1);  // 3.5 on average
  nl::Run run = run_of_windows(0, 12);
  run.iterations.count = 3;
  run.iterations.warmup = 1;
  CHECK(token_lengths(run, shape).steps == 6.0);
  run.iterations.warmup = 3;
  CHECK_FALSE(token_lengths(run, shape).steps.has_value());
  CHECK_FALSE(token_lengths(run_of_windows(4, 0), shape).steps.has_value());
  shape.decode_tokens = 9;
  CHECK(token_lengths(run_of_windows(4, 0), shape).steps == 9.0);
  CHECK(token_lengths(run_of_windows(4, 0), shape).assumptions.size() == 1);
  CHECK(token_lengths(run_of_windows(1, 9), shape).assumptions.empty());
  CHECK(token_lengths(run_of_windows(1, 8), shape).assumptions.empty());  // the first token comes out of the prefill
  CHECK(token_lengths(run_of_windows(1, 7), shape).assumptions.size() == 1);
  CHECK(token_lengths(run_of_windows(1, 10), shape).assumptions.size() == 1);
}

TEST_CASE("token lengths: the prompt is the trace's where it says one, and half a token is no contradiction") {
  using nl::analysis::token_lengths;
  nl::analysis::LlmShape shape;
  shape.prompt_tokens = 16;
  shape.batch_size = 2;
  nl::Run run = run_of_windows(1, 1);
  CHECK(token_lengths(run, shape).prompt == 16.0);
  CHECK(token_lengths(run, shape).batch == 2.0);
  run.stages[0].tokens_per_window = 0;
  CHECK(token_lengths(run, shape).prompt == 16.0);
  run.stages[0].tokens_per_window = 33;
  CHECK(token_lengths(run, shape).prompt == 16.5);
  CHECK(token_lengths(run, shape).assumptions.empty());
  run.stages[0].tokens_per_window = 34;
  CHECK(token_lengths(run, shape).assumptions.size() == 1);
  run.latency.batch = 4;
  CHECK(token_lengths(run, shape).batch == 4.0);
  CHECK(token_lengths(run, shape).prompt == 8.5);
  shape.batch_size.reset();
  run.latency.batch.reset();
  CHECK(token_lengths(run, shape).prompt == 16.0);
}
