#include "analysis/figures/latency/latency.h"

#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "analysis/staging/found/found.h"
#include "tests/catch.h"
#include "tests/unit/analysis/trace_builder.h"

namespace {

using nl::Ns;

bool noted(const nl::Run& run, const std::string& words) {
  for (const auto& note : run.latency.notes)
    if (note.find(words) != std::string::npos) return true;
  return false;
}

// Two iterations: 100 ns of prefill, and 4 steps in 400 ns of decode.
TraceBuilder generation(bool with_steps = true) {
  TraceBuilder b;
  for (const Ns at : {0, 1000}) {
    b.stage("prefill", at, at + 100);
    b.stage("decode_all", at + 100, at + 500);
    for (Ns step = 0; with_steps && step < 4; ++step) b.stage("decode_step", at + 100 + step * 100, at + 190 + step * 100);
  }
  return b;
}

nl::Run run_with(const TraceBuilder& b, nl::analysis::TokenCounts tokens) {
  nl::analysis::SummaryOptions options;
  options.tokens = tokens;
  return b.run(options);
}

}  // namespace

TEST_CASE("latency and tokens where all is known") {
  const auto run = run_with(generation(), {2, 16, 4});
  REQUIRE(run.latency.prefill);
  CHECK(run.latency.prefill->count == 2);
  CHECK(run.latency.prefill->mean_ns == 100);
  CHECK(run.latency.tpot->mean_ns == 100);
  CHECK(*run.latency.output_tokens_per_s == Approx(16 * 1e9 / 1000));  // 2 × 4 tokens twice, in twice 500 ns
  CHECK(*stage(run, "prefill").tokens_per_window == 32);
  CHECK(*stage(run, "prefill").tokens_per_s == Approx(32 * 1e9 / 100));
  CHECK(*stage(run, "decode_step").tokens_per_window == 2);
  CHECK(*stage(run, "decode").tokens_per_window == 8);
  CHECK(run.latency.notes.size() == 2);
  CHECK(noted(run, "the token that prefill yields is not counted"));
}

TEST_CASE("without a batch there are times of steps and no tokens, and that is said") {
  const auto run = run_with(generation(), {});
  CHECK(run.latency.tpot->mean_ns == 100);
  CHECK_FALSE(stage(run, "decode").tokens_per_window);
  CHECK_FALSE(stage(run, "decode_step").tokens_per_s);
  CHECK_FALSE(run.latency.output_tokens_per_s);
  CHECK_FALSE(stage(run, "prefill").tokens_per_window);
  CHECK(noted(run, "batch size is not known"));
  CHECK_FALSE(run.latency.batch);
  CHECK(noted(run, "prompt length is not known"));
}

TEST_CASE("a model file that contradicts the trace") {
  const auto run = run_with(generation(), {1, 16, 64});
  CHECK(noted(run, "configuration says 64 decode tokens, the capture has 4 decode steps per window"));
  CHECK(run.latency.tpot->mean_ns == 100);
  CHECK(*stage(run, "decode").tokens_per_window == 4);
}

TEST_CASE("decode without steps: the configuration knows, or nobody") {
  const auto known = run_with(generation(false), {1, 16, 8});
  CHECK(known.latency.tpot->mean_ns == 50);
  const auto unknown = run_with(generation(false), {1, 16, {}});
  CHECK_FALSE(unknown.latency.tpot);
  CHECK_FALSE(unknown.latency.output_tokens_per_s);
  CHECK(noted(unknown, "decode has no steps"));
}

TEST_CASE("the workload's marks go before the configuration") {
  auto b = generation();
  b.mark("LLM", "tokens prompt=32 batch=4", 0);
  b.mark("", "LLM@tokens prompt=8", 900);  // for the second iteration
  b.mark("LLM", "first token", 100);
  const auto run = run_with(b, {2, 16, {}});
  CHECK(*stage(run, "prefill").tokens_per_window == (4 * 32 + 4 * 8) / 2.0);
  CHECK(*run.latency.batch == 4);
  CHECK(*stage(run, "decode_step").tokens_per_window == 4);
  CHECK(noted(run, "marks batch 4, the model configuration says 2"));
  CHECK(noted(run, "marks prompt tokens 32, the model configuration says 16"));
}

TEST_CASE("a mark speaks for its own process only") {
  TraceBuilder b = generation();
  const auto other = b.thread(b.process());
  b.mark("LLM", "tokens batch=4", 0, other);
  CHECK(*stage(run_with(b, {2, 16, {}}), "decode_step").tokens_per_window == 2);
}

TEST_CASE("the time of prefill counts from the start of the iteration to the last prefill before decoding") {
  TraceBuilder b;
  b.stage("vision", 0, 50);
  b.stage("prefill", 60, 100);
  b.stage("prefill", 110, 160);  // in chunks
  b.stage("decode_all", 170, 300);
  const auto run = b.run();
  CHECK(run.latency.prefill->max_ns == 160);
}

TEST_CASE("no prefill, no decode") {
  TraceBuilder b;
  b.stage("vision", 0, 50);
  const auto run = b.run();
  CHECK_FALSE(run.latency.ttft);
  CHECK_FALSE(run.latency.prefill);
  CHECK_FALSE(run.latency.tpot);
  CHECK(noted(run, "no prefill was measured"));
  CHECK(noted(run, "no decode was measured"));
}

TEST_CASE("warm-up iterations say nothing about latency") {
  TraceBuilder b;
  b.stage("prefill", 0, 4000);
  b.stage("prefill", 5000, 5100);
  b.stage("prefill", 6000, 6100);
  const auto run = b.run();
  CHECK(run.latency.prefill->count == 2);
  CHECK(run.latency.prefill->max_ns == 100);
}

TEST_CASE("requests of two threads at once add up") {
  TraceBuilder b;
  for (const std::uint32_t thread : {0u, 1u}) {
    b.stage("prefill", 0, 100, thread);
    b.stage("decode_all", 100, 500, thread);
    b.stage("decode_step", 100, 500, thread);
  }
  CHECK(*run_with(b, {1, 16, {}}).latency.output_tokens_per_s == Approx(2 * 1e9 / 500));
}

TEST_CASE("ranges that end before their GPU work: tokens per second are of that work, and nothing is said of latency") {
  TraceBuilder b;
  for (const Ns at : {0, 1000}) {
    b.stage("prefill", at, at + 10);
    b.launch(at + 2, at + 5, 200);
    b.stage("decode_all", at + 10, at + 50);
    for (Ns step = 0; step < 4; ++step) {
      b.stage("decode_step", at + 10 + step * 10, at + 18 + step * 10);
      b.launch(at + 12 + step * 10, at + 205 + step * 100, 100);
    }
  }
  const auto run = run_with(b, {2, 16, 4});
  REQUIRE(stage(run, "decode").runs_on());
  REQUIRE(stage(run, "decode_step").runs_on());
  CHECK(*stage(run, "prefill").tokens_per_s == Approx(32 * 1e9 / 200));
  CHECK(*stage(run, "decode").tokens_per_s == Approx(8 * 1e9 / 400));
  CHECK(*stage(run, "decode_step").tokens_per_s == Approx(2 * 1e9 / 100));
  CHECK_FALSE(run.latency.tpot);
  CHECK_FALSE(run.latency.prefill);
  CHECK_FALSE(run.latency.output_tokens_per_s);
  CHECK(noted(run, "decode end before their GPU work"));
  CHECK(noted(run, "prefill end before their GPU work"));
  CHECK(noted(run_with(b, {}), "prefill end before their GPU work"));  // its tokens are not known
}

TEST_CASE("steps that run on in a decode that waits: its latency stays") {
  TraceBuilder b;
  for (const Ns at : {0, 1000}) {
    b.stage("prefill", at, at + 10);
    b.stage("decode_all", at + 10, at + 450);
    for (Ns step = 0; step < 4; ++step) {
      b.stage("decode_step", at + 10 + step * 10, at + 18 + step * 10);
      b.launch(at + 12 + step * 10, at + 20 + step * 100, 100);
    }
    b.wait(at + 60, at + 449);
  }
  const auto run = run_with(b, {2, 16, 4});
  REQUIRE(stage(run, "decode_step").runs_on());
  CHECK(*stage(run, "decode_step").tokens_per_s == Approx(2 * 1e9 / 100));
  CHECK(*stage(run, "decode").tokens_per_s == Approx(8 * 1e9 / 440));
  CHECK(run.latency.tpot->mean_ns == 110);
  CHECK(run.latency.output_tokens_per_s);
}

TEST_CASE("time to first token needs a request's arrival; the time of prefill does not") {
  TraceBuilder b;
  for (const Ns at : {0, 1000}) {
    b.stage("request", at, at + 600);
    b.stage("prefill", at + 50, at + 150);
    b.stage("decode_all", at + 150, at + 550);
  }
  const auto asked = b.run();
  REQUIRE(asked.latency.ttft);
  CHECK(asked.latency.ttft->mean_ns == 150);
  CHECK(asked.latency.prefill->mean_ns == 150);
  const auto unasked = run_with(generation(), {2, 16, 4});
  CHECK_FALSE(unasked.latency.ttft);
  CHECK(unasked.latency.prefill->mean_ns == 100);
  CHECK(noted(unasked, "no TTFT: the arrival of a request is not known"));
}

TEST_CASE("marks of other kinds say nothing of tokens, and the capture's steps need no configuration") {
  TraceBuilder b = generation();
  b.mark("LLM", "tokens batch=3", 10);
  b.mark("LLM", "something else", 20);
  b.mark("other", "tokens batch=9", 30);
  const auto run = run_with(b, {});
  CHECK(run.latency.batch == 3.0);
  CHECK(*stage(run, "decode").tokens_per_window == 12);
  CHECK_FALSE(noted(run, "the model configuration says"));
  TraceBuilder marked = generation(false);
  marked.mark("LLM", "tokens batch=2 prompt=7 decode=5", 10);
  const auto contradicted = run_with(marked, {1, 8, 4});
  for (const char* words : {"the workload marks batch 2, the model configuration says 1; the marks are used",
                            "the workload marks prompt tokens 7, the model configuration says 8; the marks are used",
                            "the workload marks decode tokens 5, the model configuration says 4; the marks are used"})
    CHECK(noted(contradicted, words));
  CHECK(*stage(contradicted, "decode").tokens_per_window == 10);
}

TEST_CASE("several stages may begin a request: the time to first token needs the one that holds the prefill") {
  TraceBuilder b;
  b.stage("request", 0, 500);
  b.stage("tokenise", 0, 50);
  b.stage("prefill", 50, 200);
  b.stage("decode_all", 200, 500);
  const auto run = b.run_all();
  REQUIRE(run.latency.ttft);
  CHECK(run.latency.ttft->mean_ns == 200);
  TraceBuilder short_one;
  short_one.stage("tokenise", 0, 50);
  short_one.stage("prefill", 50, 200);
  CHECK_FALSE(short_one.run_all().latency.ttft);
  TraceBuilder later;  // what begins after the prompt is not a request
  later.stage("prefill", 0, 100);
  later.stage("monitor", 50, 900);
  CHECK_FALSE(later.run_all().latency.ttft);
}

TEST_CASE("output tokens are of the time in which any thread's iteration runs, whichever thread comes first") {
  TraceBuilder b;
  b.stage("decode_all", 1000, 2000, 0);
  b.stage("decode_step", 1000, 2000, 0);
  b.stage("decode_all", 0, 500, 1);
  b.stage("decode_step", 0, 500, 1);
  nl::analysis::SummaryOptions options;
  options.warmup.mode = nl::analysis::WarmupRule::Mode::kNone;
  options.tokens = {1, 8, {}};
  CHECK(*b.run(options).latency.output_tokens_per_s == Approx(2 * 1e9 / 1500));
}

TEST_CASE("a server's time per token is not that of its steps: without the requests' own steps it is not known") {
  const auto served = [](bool overlap, bool on_the_same_thread) {
    TraceBuilder b = generation();
    const std::uint32_t other = 1, third = b.thread(0);
    const std::uint32_t thread = on_the_same_thread ? 0 : other;
    for (const Ns at : {0, 1000}) {
      b.stage("request", at, at + 600, thread);
      if (overlap) b.stage("request", at + 10, at + 600, third);
    }
    return b.run_all();
  };
  CHECK(served(false, true).latency.tpot);
  CHECK(served(false, false).latency.tpot);
  CHECK(served(true, true).latency.tpot);  // whose thread decodes knows its steps
  const auto run = served(true, false);
  CHECK_FALSE(run.latency.tpot);
  CHECK(noted(run, "no TPOT: several requests are in flight"));
}

TEST_CASE("tokens of decoding are those of its steps, also where the batch changes between them") {
  TraceBuilder b;
  b.stage("prefill", 0, 100);
  for (int i = 1; i <= 4; ++i) {
    b.mark("LLM", i <= 2 ? "tokens batch=2" : "tokens batch=5", 100 * i + 1);
    b.stage("decode_step", 100 * i, 100 * i + 100);
  }
  const auto run = b.run_all();
  CHECK(*stage(run, "decode").tokens_per_window == 2 + 2 + 5 + 5);
  CHECK(*run.latency.output_tokens_per_s == Approx(14 * 1e9 / 500));
  CHECK_FALSE(run.latency.batch);
}

namespace {

// A server that reads a prompt in 30 ns and takes a step for all requests in 10 ns, with 5 ns of other work after each.
struct MadeServer {
  TraceBuilder b;
  Ns now = 1000;
  std::vector<Ns> lasts;  // when each live request had its last token
  std::vector<Ns> gaps;   // the truth
  bool marked = true;

  void mark(std::size_t batch) {
    if (marked) b.mark("LLM", ("tokens batch=" + std::to_string(batch)).c_str(), now + 1);
  }
  void prompt() {
    mark(1);
    b.stage("prefill", now, now + 30);
    lasts.push_back(now += 30);
  }
  void step() {
    b.stage("decode_step", now, now + 15);
    mark(lasts.size());
    now += 15;
    for (Ns& last : lasts) gaps.push_back(now - std::exchange(last, now));
  }
  void steps(int count) {
    for (int i = 0; i < count; ++i) step();
  }
  void leave() { lasts.pop_back(); }
  double mean() const { return static_cast<double>(std::accumulate(gaps.begin(), gaps.end(), Ns{0})) / static_cast<double>(gaps.size()); }
};

MadeServer busy_server(bool marked) {
  MadeServer made;
  made.marked = marked;
  for (const int steps : {3, 5, 2, 4, 6}) {
    made.prompt();
    made.steps(steps);
  }
  for (const int steps : {2, 7, 1, 3}) {
    made.leave();
    made.steps(steps);
    made.prompt();
    made.prompt();
    made.steps(2);
    made.leave();
  }
  return made;
}

}  // namespace

TEST_CASE("a request of a server waits for its next token while the prompts of others are read") {
  const MadeServer made = busy_server(true);
  const auto run = made.b.run_all();
  REQUIRE(run.latency.tpot);
  CHECK(run.latency.tpot->count == made.gaps.size());
  CHECK(run.latency.tpot->mean_ns == Approx(made.mean()));
  CHECK(run.latency.tpot->mean_ns > 18);  // a step takes 15
  CHECK(noted(run, "with the prompts of others in between"));
  const auto unmarked = busy_server(false).b.run_all();
  CHECK_FALSE(noted(unmarked, "with the prompts of others in between"));
}

TEST_CASE("an idle server: nobody waits for a token while no request is there") {
  MadeServer made;
  for (const int steps : {3, 5, 2, 4, 6}) {
    made.prompt();
    made.steps(2);
    made.prompt();
    made.steps(steps);
    made.prompt();
    made.steps(1);
    made.lasts.clear();
    made.now += 100'000;
  }
  const auto run = made.b.run_all();
  CHECK(run.latency.tpot->count == made.gaps.size());
  CHECK(run.latency.tpot->mean_ns == Approx(made.mean()));
  CHECK(run.latency.tpot->max_ns < 100);
}

TEST_CASE("an engine may claim any number of requests") {
  TraceBuilder b;
  b.range("", "execute_context_4000000000(8)_generation_0(0)", 0, 100);
  for (int i = 1; i < 9; ++i) b.range("", "execute_context_0(0)_generation_4000000000(8)", 100 * i, 100 * i + 90);
  nl::analysis::add_found_stages(b.trace, {});
  const auto run = b.run_all();
  REQUIRE(run.latency.tpot);
  CHECK(run.latency.tpot->count <= 2'000'000);
  CHECK(run.latency.tpot->median_ns == 100);
}

TEST_CASE("requests with ranges of their own have their own times per token") {
  TraceBuilder b;
  const Ns step = 10;
  const auto request = [&](Ns from, Ns until) { b.range("LLM", "request", from, until, 1, nl::RangeStyle::kStartEnd); };
  b.stage("prefill", 100, 150);
  for (Ns at = 150; at < 200; at += step) b.stage("decode_step", at, at + step);
  b.stage("prefill", 200, 260);
  for (Ns at = 260; at < 300; at += step) b.stage("decode_step", at, at + step);
  SECTION("served in the order in which they came") {
    request(90, 300);
    request(120, 280);  // came while the first was read, and waited
    const auto run = b.run_all();
    REQUIRE(run.latency.tpot);
    CHECK(run.latency.tpot->count == 2);
    CHECK(run.latency.tpot->max_ns == (300 - 150) / 9);
    CHECK(run.latency.tpot->min_ns == (280 - 260) / 2);
    CHECK(noted(run, "time per output token is of each request"));
  }
  SECTION("prefills that do not fit") {
    request(90, 300);
    request(120, 180);
    CHECK_FALSE(b.run_all().latency.tpot);
  }
}

TEST_CASE("requests that overlap on the thread that decodes share its steps") {
  TraceBuilder b = generation();
  for (const Ns at : {0, 1000}) {
    b.range("LLM", "request", at, at + 400, 0, nl::RangeStyle::kStartEnd);
    b.range("LLM", "request", at + 10, at + 450, 0, nl::RangeStyle::kStartEnd);
  }
  CHECK_FALSE(b.run_all().latency.tpot);
}

TEST_CASE("an engine's time per token is that of a request, by the requests that each step has") {
  TraceBuilder b;
  const auto range = [&](const char* name, Ns from, Ns until) { b.range("", name, from, until); };
  range("execute_context_2(64)_generation_0(0)", 0, 100);
  range("execute_context_0(0)_generation_2(2)", 100, 110);
  range("execute_context_1(32)_generation_0(0)", 110, 170);
  range("execute_context_0(0)_generation_3(3)", 170, 180);
  range("execute_context_1(32)_generation_3(3)", 180, 260);
  range("execute_context_0(0)_generation_4(4)", 260, 270);
  nl::analysis::add_found_stages(b.trace, {});
  const auto run = b.run_all();
  REQUIRE(run.latency.tpot);
  // 2 wait 10; 2 of 3 wait 70 and one 10; 3 wait 80; 4 wait 10
  CHECK(run.latency.tpot->count == 12);
  CHECK(run.latency.tpot->mean_ns == Approx((2 * 10 + 2 * 70 + 10 + 3 * 80 + 4 * 10) / 12.0));
  TraceBuilder silent;
  for (Ns at = 0; at < 100; at += 10) silent.range("", "scheduler.run_batch", at, at + 9);
  nl::analysis::add_found_stages(silent.trace, {});
  CHECK_FALSE(silent.run_all().latency.tpot);
}
