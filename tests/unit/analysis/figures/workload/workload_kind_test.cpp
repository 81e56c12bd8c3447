#include "analysis/figures/workload/workload_kind.h"

#include <cstdlib>
#include <string>
#include <vector>

#include "analysis/staging/found/found.h"
#include "tests/unit/analysis/staging/found/made_generation.h"

using nl::WorkloadKind;
using nl::WorkloadVerdict;
using nl::analysis::StagedTrace;

namespace {

WorkloadVerdict judged(nl::Trace& trace) {
  nl::analysis::add_found_stages(trace, {});
  const StagedTrace staged(trace, {});
  nl::Run run;
  nl::analysis::summarise(trace, {}, run);
  return nl::analysis::workload_kind(staged, run.stages, {});
}

void check(const WorkloadVerdict& verdict, WorkloadKind kind, const std::string& unit) {
  CHECK(verdict.kind == kind);
  CHECK(verdict.unit_stage == unit);
  CHECK((verdict.confidence > 0) == (kind != WorkloadKind::kUnknown));
}

}  // namespace

TEST_CASE("workload kind: marked stages tell it") {
  TraceBuilder b;
  SECTION("generation") {
    b.stage("prefill", 0, 100);
    for (int i = 1; i < 5; ++i) b.stage("decode_step", 100 * i, 100 * i + 90);
    const WorkloadVerdict verdict = judged(b.trace);
    check(verdict, WorkloadKind::kGeneration, "decode_step");
    REQUIRE(verdict.witnesses.size() == 1);
    CHECK(verdict.witnesses[0] == nl::Remark{nl::Code::kKindByStages, {"prefill, decode_step"}});
  }
  SECTION("training, with a little generation to look at") {
    for (int i = 0; i < 5; ++i) {
      b.stage("forward", 1000 * i, 1000 * i + 300);
      b.stage("backward", 1000 * i + 300, 1000 * i + 700);
      b.stage("optimizer", 1000 * i + 700, 1000 * i + 900);
    }
    b.stage("prefill", 9000, 9100);
    b.stage("decode_step", 9100, 9200);
    check(judged(b.trace), WorkloadKind::kTraining, "train_step");
  }
  SECTION("batches of a model that generates nothing") {
    for (int i = 0; i < 5; ++i) b.stage("model_call", 100 * i, 100 * i + 50);
    check(judged(b.trace), WorkloadKind::kEncoding, "batch");
  }
  SECTION("denoising") {
    for (int i = 0; i < 5; ++i) b.stage("denoise_step", 100 * i, 100 * i + 50);
    check(judged(b.trace), WorkloadKind::kDiffusion, "denoise_step");
  }
  SECTION("stages of the program's own tell no kind, but what is counted") {
    for (int i = 0; i < 5; ++i) b.stage("assemble", 100 * i, 100 * i + 50);
    b.stage("solve", 600, 5000);
    check(judged(b.trace), WorkloadKind::kUnknown, "assemble");
  }
  SECTION("requests that overlap are served") {
    for (int i = 0; i < 3; ++i) {
      b.range("LLM", "request", 100 * i, 1000 + 100 * i, 0, nl::RangeStyle::kStartEnd);
      b.stage("prefill", 100 * i, 100 * i + 50);
    }
    for (int i = 4; i < 9; ++i) b.stage("decode_step", 100 * i, 100 * i + 90);
    const WorkloadVerdict verdict = judged(b.trace);
    CHECK(verdict.kind == WorkloadKind::kServing);
    CHECK(verdict.witnesses.back() == nl::Remark{nl::Code::kKindByRequests, {"3"}});
  }
}

TEST_CASE("workload kind: without marks it takes witnesses") {
  MadeGeneration made;
  SECTION("tokens") {
    for (int i = 0; i < 3; ++i) made.request(8);
    const WorkloadVerdict verdict = judged(made.builder.trace);
    check(verdict, WorkloadKind::kGeneration, "decode_step");
    CHECK(verdict.confidence < 1);
    CHECK(verdict.witnesses == std::vector<nl::Remark>{{nl::Code::kKindByTokens}});
  }
  SECTION("what repeats is counted, whatever it is") {
    for (int i = 0; i < 20; ++i) {
      made.layer(8, "stencil", 4);
      made.to_host();
    }
    const WorkloadVerdict verdict = judged(made.builder.trace);
    check(verdict, WorkloadKind::kUnknown, "step");
    CHECK(verdict.witnesses == std::vector<nl::Remark>{{nl::Code::kKindByRepetition}});
  }
  SECTION("nothing that repeats has no unit") {
    made.launch("gemm", 1000, 1'000'000);
    made.wait(1'000'000);
    check(judged(made.builder.trace), WorkloadKind::kUnknown, "");
  }
}

TEST_CASE("workload kind: processes that take their steps together are collective") {
  TraceBuilder b;
  const auto other = b.thread(b.process());
  SECTION("in lockstep") {
    for (int i = 0; i < 20; ++i) {
      b.stage("exchange", 1000 * i, 1000 * i + 900, 0);
      b.stage("exchange", 1000 * i + 300, 1000 * i + 950, other);
    }
    const WorkloadVerdict verdict = judged(b.trace);
    check(verdict, WorkloadKind::kCollective, "exchange");
    CHECK(verdict.witnesses.back() == nl::Remark{nl::Code::kKindByProcesses, {"2", "20"}});
  }
  SECTION("each at its own pace") {
    for (int i = 0; i < 20; ++i) {
      b.stage("exchange", 1000 * i, 1000 * i + 900, 0);
      b.stage("exchange", 1700 * i, 1700 * i + 1500, other);
    }
    check(judged(b.trace), WorkloadKind::kUnknown, "exchange");
  }
}

namespace {

// Prompts and steps by the sequences that they have: prompts below zero.
WorkloadVerdict judged_loop(const std::vector<int>& turns) {
  TraceBuilder b;
  nl::Ns now = 0;
  for (const int turn : turns) {
    b.mark("LLM", ("tokens batch=" + std::to_string(std::abs(turn))).c_str(), now);
    b.stage(turn < 0 ? "prefill" : "decode_step", now, now + 90);
    now += 100;
  }
  return judged(b.trace);
}

}  // namespace

TEST_CASE("workload kind: requests that join and leave between steps are served") {
  const WorkloadVerdict verdict = judged_loop({-1, 1, 1, -1, 2, 2, -1, -1, 4, 4, 3, -1, 4, 2, 2, -1, 3});
  check(verdict, WorkloadKind::kServing, "decode_step");
  CHECK(verdict.witnesses.back() == nl::Remark{nl::Code::kKindByJoining, {"4", "4"}});
  SECTION("always as many of them as there are places") {
    CHECK(judged_loop({-1, 4, 4, -1, -1, 4, -1, 4, 4, 4, -1, -1, -1, 4, 4, -1, 4}).kind == WorkloadKind::kServing);
  }
}

TEST_CASE("workload kind: one batch after the other is generation, however it shrinks or grows") {
  const auto generation = [](const std::vector<int>& turns) { CHECK(judged_loop(turns).kind == WorkloadKind::kGeneration); };
  generation({-4, 4, 4, 4, -4, 4, 4, -4, 4, 4, 4, 4, -4, 4});            // batches
  generation({-4, 4, 3, 1, -4, 4, 4, 2, -4, 4, 3, 3, 2, -4, 4, 1});      // that drop what is finished
  generation({-1, 5, 5, 5, -1, 5, 5, -1, 5, 5, 5, 5, -1, 5, 5});         // beams
  generation({-1, 5, 4, 2, -1, 5, 3, 3, 2, -1, 5, 5, 4, -1, 5, 1});      // that end one by one
  generation({-2, -2, 2, 2, -2, -2, -2, 2, 2, 2, -2, -2, 2, -2, 2, 2});  // prompts in parts
  generation({-3, 3, 3, -1, 1, 1, 1, -8, 8, 8, -2, 2});                  // of many sizes
}
