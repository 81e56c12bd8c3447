#include "analysis/staging/found/found.h"

#include <string>
#include <vector>

#include "analysis/staging/found/sources.h"
#include "analysis/staging/stage_table.h"
#include "tests/unit/analysis/staging/found/made_generation.h"

using namespace nl;
using analysis::find_stages;
using analysis::FoundStages;

TEST_CASE("an engine's ranges are stages with their tokens") {
  TraceBuilder b;
  b.range("", "execute_context_1(512)_generation_0(0)", 100, 200);
  b.range("", "execute_context_0(0)_generation_4(4)", 200, 250);
  b.range("", "execute_context_1(64)_generation_4(4)", 250, 330);
  b.range("", "execute_context_0(0)_generation_0(0)", 330, 340);  // nothing to do
  b.range("", "other", 10, 20);
  const FoundStages found = find_stages(b.trace, {});
  REQUIRE(found.stages.size() == 3);
  CHECK(found.stages[0].name == "prefill");
  CHECK(found.stages[0].tokens == 512);
  CHECK(found.stages[1].name == "decode_step");
  CHECK(found.stages[1].tokens == 4);
  CHECK(found.stages[2].name == "mixed_step");
  CHECK(found.stages[2].tokens == 68);
  CHECK(found.origin.source == StageSource::kEngine);
  CHECK(found.origin.confidence == 1);
  REQUIRE(found.notes.size() == 1);
  CHECK(found.notes[0].code == Code::kStagesOfEngine);
  CHECK(found.notes[0].details[0] == "vLLM");
  CHECK(found.notes[0].details[1] == "decode_step: 1, mixed_step: 1 (1 prompt with 64 tokens, 4 output tokens), prefill: 1");
}

TEST_CASE("steps of a draft model are no steps of the engine") {
  TraceBuilder b;
  b.range("", "step[EXTEND bs=1 toks=64]", 0, 10);
  for (Ns t = 100; t < 400; t += 100) {
    b.range("", "step[DECODE bs=2]", t, t + 10);
    b.range("", "step[TARGET_VERIFY bs=2 g_sq=6 g_sqsq=18 g_sqsk=90 g_sk=30]", t + 20, t + 50);
  }
  const FoundStages found = find_stages(b.trace, {});
  REQUIRE(found.stages.size() == 4);
  CHECK(found.stages[1].start_ns == 120);
  CHECK(found.stages[1].tokens == 6);
  CHECK(found.notes[0].details[1] == "decode_step: 3, prefill: 1");
}

TEST_CASE("steps whose names say nothing are told by their work") {
  MadeGeneration made;
  for (int i = 0; i < 8; ++i) {
    const Ns start = made.now;
    made.forward(i % 4 == 0 ? 64 : 1);
    made.builder.range("", "scheduler.run_batch", start, made.now);
  }
  const FoundStages found = find_stages(made.builder.trace, {});
  REQUIRE(found.stages.size() == 8);
  for (std::size_t i = 0; i < 8; ++i) CHECK(found.stages[i].name == (i % 4 == 0 ? "prefill" : "decode_step"));
  CHECK(found.origin.confidence < 1);
}

TEST_CASE("the work of a step is that of its own thread") {
  MadeGeneration made;
  for (int i = 0; i < 40; ++i) made.launch("gemm_large", 64, 1000);
  made.thread = made.queue = 1;
  made.now = 1000;
  for (int i = 0; i < 8; ++i) {
    const Ns start = made.now;
    made.forward(i % 4 == 0 ? 64 : 1);
    made.builder.range("", "scheduler.run_batch", start, made.now, 1);
  }
  const FoundStages found = find_stages(made.builder.trace, {});
  REQUIRE(found.stages.size() == 8);
  for (std::size_t i = 0; i < 8; ++i) CHECK(found.stages[i].name == (i % 4 == 0 ? "prefill" : "decode_step"));
  CHECK(found.origin.confidence == 0.8);
}

TEST_CASE("a user's map wins over engines, and marks win over both") {
  TraceBuilder b;
  b.range("", "execute_context_0(0)_generation_4(4)", 200, 250);
  b.range("mine", "step 1", 100, 200);
  b.range("mine", "step 2", 200, 300);
  const analysis::StageMap map = {{"decode_step", "^step [0-9]+"}, {"prefill", "^prompt"}};
  const FoundStages found = find_stages(b.trace, map);
  REQUIRE(found.stages.size() == 2);
  CHECK(found.stages[0].name == "decode_step");
  CHECK(found.stages[1].start_ns == 200);
  CHECK(found.origin.source == StageSource::kMarked);
  CHECK(found.origin.confidence == 1);
  REQUIRE(found.notes.size() == 2);
  CHECK(found.notes[0] == Remark{Code::kMapNoMatch, {"prefill"}});
  CHECK(found.notes[1] == Remark{Code::kStagesMapped, {"decode_step: 2"}});

  SECTION("a map that matches nothing leaves the engine's") {
    const FoundStages engine = find_stages(b.trace, {{"prefill", "^prompt"}});
    REQUIRE(engine.stages.size() == 1);
    CHECK(engine.origin.source == StageSource::kEngine);
    CHECK(engine.notes.size() == 2);
  }
  SECTION("with marks nothing is added") {
    b.stage("prefill", 0, 50);
    CHECK(find_stages(b.trace, {}).notes.empty());
    const FoundStages marked = find_stages(b.trace, map);
    CHECK(marked.stages.empty());
    REQUIRE(marked.notes.size() == 1);
    CHECK(marked.notes[0].code == Code::kMapNotUsed);
  }
}

TEST_CASE("found stages are stages of the run, and no ranges of the workload") {
  MadeGeneration made;
  for (int i = 0; i < 3; ++i) made.request(8);
  made.builder.range("mine", "all", 0, made.now);
  analysis::add_found_stages(made.builder.trace, {});
  analysis::add_found_stages(made.builder.trace, {});  // a second time changes nothing
  const Run run = made.builder.run_all();
  const StageEntry& steps = stage(run, "decode_step");
  CHECK(steps.wall.count == 24);
  CHECK(steps.source == StageSource::kInferred);
  CHECK(steps.confidence == made.builder.trace.stage_origin.confidence);
  CHECK(steps.ranges == std::vector<std::string>{"nl-stage:decode_step"});
  CHECK(stage(run, "decode").derived);
  CHECK(stage(run, "decode").source == StageSource::kInferred);
  CHECK(stage(run, "prefill").wall.count == 3);
  CHECK(stage(run, "prefill").kernel_calls == 3 * 32);
  CHECK(run.iterations.count == 3);
  REQUIRE(run.ranges.size() == 1);
  CHECK(run.ranges[0].name == "all");
  CHECK(run.latency.tpot);
  REQUIRE(run.import_stats.notes.size() == 1);
  CHECK(run.import_stats.notes[0].code == Code::kStagesInferred);
}

TEST_CASE("an engine's tokens are those of the stages") {
  TraceBuilder b;
  b.range("", "execute_context_1(512)_generation_0(0)", 0, 1000);
  b.range("", "execute_context_0(0)_generation_4(4)", 1000, 1500);
  b.range("", "execute_context_0(0)_generation_6(6)", 1500, 2000);
  analysis::add_found_stages(b.trace, {});
  const Run run = b.run_all();
  CHECK(stage(run, "prefill").tokens_per_window == 512);
  CHECK(stage(run, "decode_step").tokens_per_window == 5);
  CHECK(stage(run, "decode").tokens_per_window == 10);
  CHECK(stage(run, "decode").source == StageSource::kEngine);
  CHECK(run.latency.output_tokens_per_s == 10 * 1e9 / 2000);
}

TEST_CASE("marked stages are marked") {
  TraceBuilder b;
  b.stage("prefill", 0, 100);
  analysis::add_found_stages(b.trace, {});
  const Run run = b.run_all();
  CHECK(stage(run, "prefill").source == StageSource::kMarked);
  CHECK(stage(run, "prefill").confidence == 1);
  CHECK(run.import_stats.notes.empty());
}

TEST_CASE("of several engines the one with the most ranges, and ranges that tell more go first") {
  TraceBuilder b;
  b.range("", "scheduler.run_batch", 0, 10);
  b.range("", "scheduler.run_batch", 10, 20);
  b.range("", "scheduler.run_batch", 20, 30);
  b.range("", "step[MIXED bs=3]", 100, 200);
  FoundStages found = find_stages(b.trace, {});
  REQUIRE(found.stages.size() == 1);
  CHECK(found.stages[0].name == "mixed_step");
  CHECK_FALSE(found.stages[0].tokens);  // how many of either is not said
  CHECK(found.notes[0].details[0] == "SGLang");
  b.range("", "execute_context_0(0)_generation_4(4)", 200, 250);
  b.range("", "execute_context_0(0)_generation_4(4)", 250, 300);
  b.range("", "execute_context_1(9)_generation_0(0)", 300, 9999, 0, RangeStyle::kPushPop, true);  // never closed
  found = find_stages(b.trace, {});
  REQUIRE(found.stages.size() == 2);
  CHECK(found.notes[0].details[0] == "vLLM");
  CHECK(found.notes[0].details[1] == "decode_step: 2");
}

TEST_CASE("a step that does not say all its tokens has none") {
  TraceBuilder b;
  b.range("", "[Executor] _forward_step 1: 2 ctx reqs, 5 gen reqs", 0, 10);
  b.range("", "[Executor] _forward_step 2: 2 ctx reqs, 300 ctx tokens, 5 gen reqs", 10, 20);
  b.range("", "[Executor] _forward_step 3: 2 ctx reqs, 0 gen reqs", 20, 30);
  b.range("", "[Executor] _forward_step 4: 0 ctx reqs, 5 gen reqs", 30, 40);
  const FoundStages found = find_stages(b.trace, {});
  REQUIRE(found.stages.size() == 4);
  CHECK_FALSE(found.stages[0].tokens);
  CHECK(found.stages[1].tokens == 305);
  CHECK_FALSE(found.stages[2].tokens);
  CHECK(found.stages[3].tokens == 5);
}

TEST_CASE("a map's first pattern that is found in a name decides, and open ranges are no stages") {
  TraceBuilder b;
  b.range("", "my prompt", 0, 10, 1);
  b.range("", "my prompt", 20, 30, 0, RangeStyle::kPushPop, true);
  b.range("", "other", 40, 50);
  const FoundStages found = find_stages(b.trace, {{"prefill", "prompt"}, {"decode", "^my"}});
  REQUIRE(found.stages.size() == 1);
  CHECK(found.stages[0].name == "prefill");
  CHECK(found.stages[0].thread == 1);
  CHECK(found.stages[0].end_ns == 10);
  CHECK(found.notes == std::vector<Remark>{{Code::kMapNoMatch, {"decode"}}, {Code::kStagesMapped, {"prefill: 1"}}});
}

TEST_CASE("of a part of a trace nothing is inferred: its beginning is warm-up, or less") {
  MadeGeneration made;
  for (int i = 0; i < 3; ++i) made.request(8);
  CHECK(find_stages(made.builder.trace, {}).stages.front().name != "capture");
  made.builder.trace.stats.notes.push_back({Code::kCaptureCut, {"1", "2"}});
  for (const auto& stage : find_stages(made.builder.trace, {}).stages) CHECK(stage.name == "capture");
}

TEST_CASE("where nothing else is found, each process's work is a stage of its own") {
  TraceBuilder b;
  b.launch(500'000'000, 1'000'000'000, 1'000'000'000);
  const auto process = b.process();
  const auto thread = b.thread(process);
  b.launch(2'900'000'000, 3'000'000'000, 500'000'000, thread, b.queue(process, 1, 3));
  const FoundStages found = find_stages(b.trace, {});
  REQUIRE(found.stages.size() == 2);
  CHECK(found.origin.source == StageSource::kInferred);
  CHECK(found.origin.confidence == 1);
  CHECK(found.stages[0].name == "capture");
  CHECK(found.stages[0].start_ns == 1'000'000'000);
  CHECK(found.stages[0].end_ns == 2'000'000'000);
  CHECK(found.stages[0].thread == 0);
  CHECK(found.stages[1].start_ns == 3'000'000'000);
  CHECK(found.stages[1].thread == thread);
  REQUIRE(found.notes.size() >= 2);
  CHECK(found.notes[found.notes.size() - 2] == Remark{Code::kWholeCapture, {"1.000 s", "2.000 s"}});
  CHECK(found.notes.back() == Remark{Code::kWholeCapture, {"3.000 s", "3.500 s"}});
}

TEST_CASE("processes of engines are noted with what they are for, once each") {
  TraceBuilder b;
  b.range("", "execute_context_1(512)_generation_0(0)", 0, 1000);
  b.trace.processes = {{851, "VLLM::EngineCore"}, {852, "python3"}, {853, "bash"}};
  b.trace.threads = {{0, 851, "VLLM::EngineCor"}, {1, 852, "VLLM::APIServer"}, {2, 853, "bash"}};
  analysis::add_found_stages(b.trace, {});
  const Remark* note = find_first(b.trace.stats.notes, {Code::kEngineProcesses});
  REQUIRE(note != nullptr);
  CHECK(note->details == std::vector<std::string>{"vLLM", "scheduler (VLLM::EngineCore, process 851), API (VLLM::APIServer, process 852)"});
  CHECK(b.trace.stats.notes.size() == 2);  // and one on the stages
}
