#include "tests/catch.h"
#include "tests/unit/analysis/figures/host/sampled_trace.h"

using nl::HostWork;
using nl::Ns;
using nl::test::SampledTrace;

namespace {

const nl::HostCode& code_of(const nl::Run& run, const char* name) {
  const nl::StageEntry& entry = ::stage(run, name);
  REQUIRE(entry.host_code);
  return *entry.host_code;
}

}  // namespace

// Kernels at 0..100, 200..300 and 400..500; each is launched as it starts, so that the GPU waits for launches 100..200 and 300..400.
struct TwoWaits : SampledTrace {
  TwoWaits() {
    stage("prefill", 0, 500);
    launch(0, 0, 100);
    launch(200, 200, 100);
    launch(400, 400, 100);
  }
};

TEST_CASE("host code: the waits of a stage, by line, function and kind") {
  TwoWaits b;
  const auto main = b.frame("__main__", "main", 3), attention = b.frame("transformers.models.x.modeling_x", "A.forward", 20),
             mlp = b.frame("transformers.models.x.modeling_x", "A.forward", 25), call = b.frame("torch.nn.modules.module", "_call_impl", 7);
  const auto in_attention = b.stack({main, attention}), in_mlp = b.stack({main, mlp}),
             in_call = b.stack({main, attention, call, mlp, call});
  for (Ns at = 100; at < 110; ++at) b.sample(at, in_attention);  // 10 in the first wait
  for (Ns at = 300; at < 325; ++at) b.sample(at, in_mlp);        // 25 in the second
  for (Ns at = 380; at < 385; ++at) b.sample(at, in_call);       // 5 more
  b.sample(99, in_mlp);                                          // while the GPU works
  b.sample(200, in_mlp);                                         // as the launch begins
  b.sample(150, in_mlp, 1);                                      // another thread
  const auto run = b.run_all();
  const nl::HostCode& code = code_of(run, "prefill");
  CHECK(code.waited_ns == 200);
  CHECK(code.samples == 40);
  REQUIRE(code.kinds.size() == 2);
  CHECK((code.kinds[0].kind == HostWork::kModel && code.kinds[0].samples == 35 && code.kinds[0].time_ns == 175));
  CHECK((code.kinds[1].kind == HostWork::kFramework && code.kinds[1].samples == 5 && code.kinds[1].time_ns == 25));
  REQUIRE(code.lines.size() == 3);
  CHECK((code.lines[0].frame.line == 25 && code.lines[0].samples == 25 && code.lines[0].samples_inside == 30));
  CHECK((code.lines[0].time_ns == 125 && code.lines[0].time_inside_ns == 150 && code.lines[0].kind == HostWork::kModel));
  CHECK((code.lines[1].frame.line == 20 && code.lines[1].samples == 10 && code.lines[1].samples_inside == 15));
  CHECK((code.lines[2].frame.function == "_call_impl" && code.lines[2].samples == 5 && code.lines[2].samples_inside == 5));
  REQUIRE(code.functions.size() == 3);
  CHECK((code.functions[0].frame.function == "main" || code.functions[0].frame.function == "A.forward"));  // both are in all of them
  CHECK((code.functions[0].samples_inside == 40 && code.functions[1].samples_inside == 40 && code.functions[0].time_inside_ns == 200));
  const nl::HostLine& forward = code.functions[code.functions[0].frame.function == "main" ? 1 : 0];
  CHECK((forward.samples == 35 && forward.frame.line == 1 && forward.frame.source.empty() && forward.time_ns == 175));
  CHECK((code.functions[2].samples_inside == 5 && code.functions[2].kind == HostWork::kFramework));  // once, however deep
  REQUIRE(run.host);
  CHECK(run.host->samples == 43);
  REQUIRE(run.host->stacks.size() == 3);
  CHECK((run.host->stacks[0].stage == "prefill" && run.host->stacks[0].samples == 25));
  CHECK(run.host->frames[run.host->stacks[0].frames[1]].frame.line == 25);
  CHECK(run.host->frames[run.host->stacks[0].frames[1]].kind == HostWork::kModel);
  CHECK(run.host->stacks[2].frames.size() == 5);
  CHECK(run.host->frames.size() == 4);
  CHECK(run.host->unlisted == 0);
}

TEST_CASE("host code: of few samples the counts are kept, the times are not told, and a note says what would help") {
  TwoWaits b;
  const auto stack = b.stack({b.frame("__main__", "main", 3)});
  for (Ns at = 100; at < 119; ++at) b.sample(at, stack);
  const auto few = b.run_all();
  CHECK(code_of(few, "prefill").samples == 19);
  CHECK(code_of(few, "prefill").lines[0].samples == 19);
  CHECK_FALSE(code_of(few, "prefill").lines[0].time_ns);
  CHECK_FALSE(code_of(few, "prefill").kinds[0].time_ns);
  CHECK(few.import_stats.notes == std::vector<nl::Remark>{{nl::Code::kFewHostSamples, {"prefill (19)", "20"}}});
  b.sample(119, stack);
  const auto enough = b.run_all();
  CHECK(code_of(enough, "prefill").lines[0].time_ns == 200);
  CHECK(enough.import_stats.notes.empty());
}

TEST_CASE("host code: without samples there is none") {
  const auto run = TwoWaits().run_all();
  CHECK_FALSE(::stage(run, "prefill").host_code);
  CHECK_FALSE(run.host);
}

TEST_CASE("host code: waits inside a gap are syncs, not starved time, and are listed by the calling line") {
  SampledTrace b;
  b.stage("prefill", 0, 500);
  b.launch(0, 0, 100);
  b.wait(90, 150);          // 100..150 the thread waits: blocked, not starved
  b.launch(200, 200, 300);  // 150..200 starved
  const auto main = b.frame("__main__", "main", 3), item = b.frame("__main__", "main", 4, "n = x.item()"),
             tensor = b.frame("torch._tensor", "item", 9);
  const auto in_item = b.stack({main, item, tensor}), in_main = b.stack({main});
  for (Ns at = 92; at < 112; ++at) b.sample(at, in_item);  // 20 inside the call, 12 of them in the gap
  b.sample(150, in_main);
  b.sample(199, in_main);
  const auto run = b.run_all();
  const nl::HostCode& code = code_of(run, "prefill");
  CHECK(code.waited_ns == 50);
  CHECK(code.samples == 2);
  REQUIRE(code.syncs.size() == 1);
  CHECK((code.syncs[0].frame.line == 4 && code.syncs[0].samples == 20 && code.syncs[0].time_ns == 60));  // all of the call
}

TEST_CASE("host code: garbage collections count where they overlap the waits, on any thread of the process") {
  TwoWaits b;
  const auto stack = b.stack({b.frame("__main__", "main", 3)});
  b.collection(90, 120, 1);        // 20 of the first wait, another thread
  b.collection(180, 310);          // 20 of the first and 10 of the second
  b.collection(210, 290);          // while the GPU works
  b.collection(350, 360, 0, 999);  // another process
  b.sample(110, stack);
  b.sample(130, stack);
  const auto run = b.run_all();
  const nl::HostCode& code = code_of(run, "prefill");
  CHECK(code.collections == 2);
  CHECK(code.collection_ns == 20 + 20 + 10);
  REQUIRE(code.kinds.size() == 2);
  CHECK((code.kinds[0].samples == 1 && code.kinds[1].samples == 1));
  CHECK((code.kinds[0].kind == HostWork::kGarbage && code.kinds[1].kind == HostWork::kUser));
}

TEST_CASE("host code: calls of the operating system on the launching thread, as far as they lie in the waits") {
  TwoWaits b;
  b.os_call(50, 150, "read");       // 50 in the first wait
  b.os_call(160, 320, "poll");      // 40 and 20
  b.os_call(165, 170, "ioctl");     // inside the other one
  b.os_call(330, 340, "write", 1);  // another thread
  const auto run = b.run_all();
  const nl::HostCode& code = code_of(run, "prefill");
  CHECK(code.samples == 0);
  REQUIRE(code.os_calls.size() == 2);
  CHECK((code.os_calls[0].name == "poll" && code.os_calls[0].count == 2 && code.os_calls[0].time_ns == 60));
  CHECK((code.os_calls[1].name == "read" && code.os_calls[1].count == 1 && code.os_calls[1].time_ns == 50));
  CHECK_FALSE(run.host);  // the host was not sampled
}

TEST_CASE("host code: stages around each other each have their waits, warm-up has none") {
  SampledTrace b;
  const auto stack = b.stack({b.frame("__main__", "main", 3)});
  for (Ns start = 0; start < 3000; start += 1000) {
    b.stage("decode", start, start + 400);
    b.stage("decode_step", start + 150, start + 400);
    b.launch(start, start, 100);
    b.launch(start + 200, start + 200, 200);  // starved from 100 on, in the step from 150 on
    b.sample(start + 120, stack);
    b.sample(start + 180, stack);
  }
  nl::analysis::SummaryOptions options;
  options.warmup.mode = nl::analysis::WarmupRule::Mode::kCount;
  options.warmup.count = 1;
  const auto run = b.run(options);
  CHECK(code_of(run, "decode").waited_ns == 200);
  CHECK(code_of(run, "decode").samples == 4);
  CHECK(code_of(run, "decode_step").waited_ns == 100);
  CHECK(code_of(run, "decode_step").samples == 2);
}

TEST_CASE("host code: two GPUs that wait for one thread both count what it does") {
  SampledTrace b;
  b.stage("prefill", 0, 400);
  for (std::uint32_t queue : {0u, 1u}) {
    b.launch(0, 0, 100, 0, queue);
    b.launch(200 + queue, 200 + queue, 100, 0, queue);
  }
  const auto stack = b.stack({b.frame("__main__", "main", 3)});
  b.sample(150, stack);
  b.sample(200, stack);  // GPU 0 has its launch by then
  const auto run = b.run_all();
  CHECK(code_of(run, "prefill").waited_ns == 201);
  CHECK(code_of(run, "prefill").samples == 3);
}

TEST_CASE("host code: more stacks than are listed are counted") {
  TwoWaits b;
  const auto main = b.frame("__main__", "main", 3);
  for (std::uint32_t i = 0; i < 2010; ++i) {
    const auto stack = b.stack({main, b.frame("__main__", "f", 10 + i)});
    b.sample(110, stack);
    if (i >= 1000) b.sample(111, stack);
  }
  const auto run = b.run_all();
  REQUIRE(run.host);
  CHECK(run.host->stacks.size() == 2000);
  CHECK(run.host->stacks[1009].samples == 2);
  CHECK(run.host->stacks[1010].samples == 1);
  CHECK(run.host->unlisted == 10);
  CHECK(run.host->frames.size() == 2001);
  CHECK(code_of(run, "prefill").samples == 3020);
  CHECK(code_of(run, "prefill").lines.size() == 200);
}
