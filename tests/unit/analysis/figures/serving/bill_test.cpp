#include <numeric>

#include "analysis/figures/serving/costs.h"
#include "tests/unit/analysis/figures/serving/serving_trace.h"

using namespace nl;

TEST_CASE("bill: a trace without marks of requests has none") {
  ServingTrace trace;
  trace.mark("LLM", "tokens prompt=8", 5);
  trace.range("vendor", "execute_step", 10, 20);
  trace.evidence.trace = std::move(trace.trace);
  CHECK_FALSE(analysis::serving_of(trace.evidence));
}

TEST_CASE("bill: the parts of a request follow each other without a hole") {
  for (const char* domain : {"LLM", ""}) {
    ServingTrace trace;
    trace.domain = domain;
    trace.plain(1, 100);
    const Serving serving = trace.bill();
    CHECK(text_of(request(serving, 1).times) == "queue 10, prefill 20, decode 10, between_steps 6, detokenising 4");
    CHECK(request(serving, 1).start_ns == 100);
    CHECK(request(serving, 1).end_ns == 150);
    CHECK(request(serving, 1).first_token_ns == 31);
    CHECK(serving.start_ns == 100);
    CHECK(serving.end_ns == 150);
    CHECK(serving.whole == 1);
    CHECK(serving.damage.empty());
    REQUIRE(serving.workers.size() == 1);
    CHECK(serving.workers[0].process == "worker");
    CHECK(serving.workers[0].step_ns == 30);
    CHECK(serving.workers[0].between_ns == 16);  // of the queue, and between the steps
    CHECK(serving.workers[0].idle_ns == 4);
  }
}

TEST_CASE("bill: the ranges of steps are those behind their marks, whatever they are called") {
  ServingTrace trace;
  trace.arrived(1, 0);
  trace.range("", "loop", 1, 200);  // around all
  trace.step("1:prefill:8", 10, 20, 0, "forward pass");
  trace.step("1:decode:1", 30, 40, 0, "forward pass");
  trace.finished(1, 41);
  const Serving serving = trace.bill();
  CHECK(text_of(request(serving, 1).times) == "queue 10, prefill 10, decode 10, between_steps 11");
}

TEST_CASE("bill: interference is what a step takes above steps of as many decodes") {
  ServingTrace trace;
  trace.arrived(1, 0);
  trace.step("1:prefill:8", 10, 20);
  for (const Ns at : {20, 40, 60}) trace.step("1:decode:1", at, at + (at == 60 ? 15 : 10));
  trace.arrived(2, 75, 500);
  trace.step("1:decode:1,2:prefill:400", 80, 200);
  trace.step("2:prefill:100", 200, 230);  // the first has to wait
  trace.step("2:decode:1", 230, 240);     // it has to wait, and nothing of that is a prompt
  trace.step("1:decode:1", 245, 255);
  trace.finished(1, 255);
  trace.finished(2, 256);
  const Serving serving = trace.bill();
  CHECK(text_of(request(serving, 1).times) == "queue 10, prefill 10, decode 55, interference 140, other_steps 10, between_steps 30");
  CHECK(text_of(request(serving, 2).times) == "queue 5, prefill 150, decode 10, between_steps 16");
}

TEST_CASE("bill: without steps to compare with, a mixed step is not divided") {
  ServingTrace trace;
  trace.arrived(1, 0);
  trace.arrived(2, 0);
  trace.step("1:prefill:8", 10, 20);
  trace.step("1:decode:1,2:prefill:8", 20, 50);
  trace.step("1:decode:1,2:decode:1", 50, 60);
  trace.finished(1, 60);
  trace.finished(2, 60);
  CHECK(text_of(request(trace.bill(), 1).times) == "queue 10, prefill 10, decode 10, undivided 30");
}

TEST_CASE("bill: a preempted request pays for waiting and for computing again") {
  ServingTrace trace;
  trace.arrived(1, 0, 8);
  trace.scheduled(1, 9);
  trace.step("1:prefill:8", 10, 20);
  trace.step("1:decode:1", 20, 30);
  trace.preempted(1, 33, 9);
  trace.scheduled(1, 48, 1);
  trace.step("1:prefill:6", 50, 60);
  trace.step("1:prefill:3", 61, 70);
  trace.step("1:decode:1", 70, 80);
  trace.finished(1, 81);
  const Serving serving = trace.bill();
  CHECK(text_of(request(serving, 1).times) == "queue 10, prefill 10, decode 20, preemption 36, between_steps 5");
  CHECK(request(serving, 1).preemptions == 1);
  CHECK(serving.preempted == 1);
}

TEST_CASE("bill: of a prompt that is preempted half way only that half is computed again") {
  ServingTrace trace;
  trace.arrived(1, 0, 100);
  trace.step("1:prefill:50", 10, 20);
  trace.preempted(1, 20, 100);
  trace.step("1:prefill:50", 30, 40);
  trace.step("1:prefill:50", 40, 55);
  trace.step("1:decode:1", 55, 60);
  trace.finished(1, 60);
  CHECK(text_of(request(trace.bill(), 1).times) == "queue 10, prefill 25, decode 5, preemption 20");
}

TEST_CASE("bill: requests that began before the window or end after it are partial") {
  ServingTrace trace;
  trace.step("1:decode:1,2:decode:1", 10, 20);  // both came before the capture
  trace.step("1:decode:1", 30, 40);
  trace.finished(1, 45);
  trace.scheduled(3, 48);  // it was in the queue as the capture began
  trace.step("3:prefill:4,2:decode:1", 50, 60);
  trace.arrived(4, 70);
  trace.trace.duration_ns = 100;
  const Serving serving = trace.bill();
  CHECK(serving.start_ns == 0);
  CHECK(serving.end_ns == 100);
  CHECK(serving.began_before == 3);
  CHECK(serving.ended_after == 3);
  CHECK(serving.whole == 0);
  CHECK(serving.arrived == 1);
  CHECK(text_of(request(serving, 1).times) == "decode 20, between_steps 25");
  CHECK(text_of(request(serving, 2).times) == "decode 10, undivided 10, other_steps 10, between_steps 70");
  CHECK(text_of(request(serving, 3).times) == "queue 50, prefill 10, between_steps 40");
  CHECK(text_of(request(serving, 4).times) == "queue 30");
  CHECK(serving.tail.judged == 0);
  CHECK(serving.tail.requests.empty());
}

TEST_CASE("bill: a client that leaves ends its request where it is") {
  ServingTrace trace;
  trace.arrived(1, 0);
  trace.finished(1, 15, 0, "cancelled");
  trace.arrived(2, 0);
  trace.step("2:prefill:8", 20, 40);
  trace.preempted(2, 41);
  trace.finished(2, 50, 1, "cancelled");
  trace.plain(3, 100);
  const Serving serving = trace.bill();
  CHECK(serving.cancelled == 2);
  CHECK(text_of(request(serving, 1).times) == "queue 15");
  CHECK(text_of(request(serving, 2).times) == "queue 20, prefill 20, preemption 9, between_steps 1");
  CHECK(request(serving, 1).whole());
  CHECK(serving.tail.judged == 1);
  CHECK(serving.ended_after == 0);
}

TEST_CASE("bill: damaged marks are counted") {
  using enum ServingDamage;
  ServingTrace trace;
  trace.plain(1, 100);
  trace.say("request arrived prompt=8", 160, trace.api);
  trace.say("request arrived id=-3", 160, trace.api);
  trace.say("request exploded id=4", 160, trace.api);  // of a newer engine
  trace.say("step requests=1:decode:1", 160, 0);
  trace.say("request arrived id=1 prompt=8", 161, trace.api);
  trace.step("1:decode:1,1:decode:1,9:dance:1,x", 170, 180);
  trace.say("step index=70 part=1/3 requests=1:decode:1", 181, 0);
  trace.say("step index=70 part=3/3 requests=2:decode:1", 182, 0);
  trace.range("vendor", "execute_step", 183, 190);
  trace.say("step index=71 requests=1:decode:1", 195, 0);  // no range
  trace.queued(5, 196);
  trace.finished(5, 197);
  trace.detokenised(5, 198);
  const Serving serving = trace.bill();
  CHECK(damage(serving, kUnreadable) == 5);
  CHECK(damage(serving, kTwice) == 2);
  CHECK(damage(serving, kStepCut) == 1);
  CHECK(damage(serving, kStepNoRange) == 1);
  CHECK(damage(serving, kNotArrived) == 1);
  CHECK(request(serving, 5).times.total() == 2);
}

TEST_CASE("bill: a step whose mark has several parts is one step") {
  ServingTrace trace;
  trace.arrived(1, 0);
  trace.arrived(2, 0);
  trace.say("step index=0 part=1/2 requests=1:prefill:8", 8, 0);
  trace.say("step index=0 part=2/2 requests=2:prefill:8", 9, 0);
  trace.range("vendor", "execute_context_2(16)_generation_0(0)", 10, 30);
  trace.finished(1, 31);
  trace.finished(2, 31);
  const Serving serving = trace.bill();
  CHECK(serving.damage.empty());
  REQUIRE(serving.steps.size() == 1);
  CHECK(serving.steps[0].requests == 2);
  CHECK(serving.steps[0].wall.count == 1);
  CHECK(text_of(request(serving, 2).times) == "queue 10, prefill 20, between_steps 1");
}

TEST_CASE("bill: each request is of the worker that has its first step") {
  ServingTrace trace;
  const std::uint32_t other = trace.thread(0);
  trace.arrived(1, 0);
  trace.arrived(2, 0);
  trace.step("1:prefill:8", 10, 30);
  trace.step("2:prefill:8", 20, 60, other);
  trace.step("2:decode:1", 70, 80);  // of the first worker: not believed
  trace.finished(1, 30);
  trace.finished(2, 60);
  const Serving serving = trace.bill();
  REQUIRE(serving.workers.size() == 2);
  CHECK(request(serving, 1).worker == 0);
  CHECK(request(serving, 2).worker == 1);
  CHECK(text_of(request(serving, 2).times) == "queue 20, prefill 40");
  CHECK(damage(serving, ServingDamage::kOtherWorker) == 1);
}

TEST_CASE("bill: GPU time is of the step that launched it, and a step of one token is what all of them cost") {
  ServingTrace trace;
  trace.arrived(1, 0);
  trace.arrived(2, 0);
  trace.step("1:prefill:3,2:prefill:1", 10, 30);
  trace.launch(12, 15, 41);  // runs on beyond the step
  for (Ns at = 40; at < 140; at += 20) {
    trace.step("1:decode:1", at, at + 10);
    trace.launch(at + 1, at + 2, 5);
  }
  trace.launch(135, 136, 7);  // by no step
  trace.finished(1, 150);
  trace.finished(2, 150);
  const Serving serving = trace.bill();
  CHECK(serving.gpu_step_ns == 41 + 5 * 5);
  CHECK(serving.gpu_other_ns == 7);
  CHECK(serving.gpu_floor == 5);
  CHECK(serving.step_floor == 10);
  CHECK(request(serving, 1).gpu == ServingCost{27, 4 + 25});  // 3 of 4 tokens of 36 and of 5, and five steps alone
  CHECK(request(serving, 2).gpu == ServingCost{9, 1});
  CHECK(request(serving, 2).step == ServingCost{2, 2});  // a quarter of 10 and of 10, without the rest
  CHECK(serving.workers[0].shared_ns == 60);
}

TEST_CASE("bill: a whole is divided without a rest") {
  using analysis::serving::divided;
  CHECK(divided(10, std::vector<std::uint64_t>{1, 1, 1}) == std::vector<std::int64_t>{4, 3, 3});
  CHECK(divided(10, std::vector<std::uint64_t>{0, 0}) == std::vector<std::int64_t>{5, 5});
  CHECK(divided(7, std::vector<std::uint64_t>{1, 5}) == std::vector<std::int64_t>{1, 6});
  const std::vector<std::uint64_t> large(7, ~0ULL / 8);
  const auto parts = divided(INT64_MAX, large);
  CHECK(std::accumulate(parts.begin(), parts.end(), std::int64_t{0}) == INT64_MAX);
}

TEST_CASE("bill: the window's energy is divided by GPU time") {
  ServingTrace trace;
  trace.plain(1, 1'000);
  trace.plain(2, 2'000, 30);
  trace.trace.utc_start_ns = 5'000'000;
  CHECK(trace.bill().energy_note == "the GPUs' meters were not read");
  trace.trace = std::move(trace.evidence.trace);
  for (int i = 0; i < 20; ++i) {
    PowerSample sample;
    sample.utc_ns = 5'000'000 + 500 * i;
    sample.energy_j = 10.0 * i;
    trace.evidence.power.push_back(sample);
  }
  const Serving serving = trace.bill();
  // 1,070 ns at 10 J in 500 ns
  REQUIRE(serving.energy_uj);
  CHECK(*serving.energy_uj == 21'400'000);
  CHECK(*request(serving, 1).energy_uj + *request(serving, 2).energy_uj == *serving.energy_uj);
  CHECK(*request(serving, 1).energy_uj == 21'400'000 * 30 / 80);
}

namespace {

LoadRun client(Ns clock) {
  LoadRun load;
  load.clock = LoadClock::kMonotonic;
  for (int id = 1; id <= 3; ++id) {
    LoadRequest sent;
    sent.id = "r-" + std::to_string(id);
    sent.sent_ns = clock + 1000 * id - 7;
    sent.end_ns = clock + 1000 * id + 50 + 13;
    load.requests.push_back(sent);
  }
  return load;
}

}  // namespace

TEST_CASE("bill: the client's records give the network") {
  ServingTrace trace;
  for (int id = 1; id <= 3; ++id) trace.plain(id, 1000 * id);
  trace.trace.monotonic_start_ns = 77'000;
  LoadRun load = client(77'000);
  load.requests[1].end_ns = 77'000 + 2049;  // before its last text: not believed
  load.requests[2].id = "r-9";              // unknown
  *load.requests[2].sent_ns -= 500;
  load.requests[2].end_ns = *load.requests[2].sent_ns + 20;
  trace.evidence.loads = {load};
  const Serving serving = trace.bill();
  CHECK(serving.network == NetworkState::kJoined);
  CHECK(serving.joined == 1);
  CHECK(request(serving, 1).network_before_ns == 7);
  CHECK(request(serving, 1).network_after_ns == 13);
  CHECK(request(serving, 1).times.total() == 50 + 20);
  CHECK_FALSE(request(serving, 2).network_before_ns);
  CHECK(damage(serving, ServingDamage::kClientTimes) == 1);
  CHECK(damage(serving, ServingDamage::kClientNotFound) == 1);
  CHECK(serving.times[ServingPart::kNetwork] == 0);
}

TEST_CASE("bill: records of another clock, or without names, say so") {
  const auto state = [](LoadClock clock, bool ids, bool with_start) {
    ServingTrace trace;
    trace.plain(1, 1000);
    if (with_start) trace.trace.monotonic_start_ns = 0;
    LoadRun load = client(0);
    load.clock = clock;
    if (!ids)
      for (LoadRequest& each : load.requests) each.id.clear();
    trace.evidence.loads = {load};
    return trace.bill().network;
  };
  CHECK(state(LoadClock::kMonotonic, true, true) == NetworkState::kJoined);
  CHECK(state(LoadClock::kMonotonic, true, false) == NetworkState::kNoClock);
  CHECK(state(LoadClock::kNone, true, true) == NetworkState::kNoClock);
  CHECK(state(LoadClock::kEpoch, true, true) == NetworkState::kNoClock);  // the capture has no UTC
  CHECK(state(LoadClock::kMonotonic, false, true) == NetworkState::kNoIds);
}

TEST_CASE("bill: a client's records without a marked request are a window without any") {
  ServingTrace trace;
  trace.trace.duration_ns = 500;
  trace.evidence.loads = {client(0)};
  const Serving serving = trace.bill();
  CHECK(serving.count == 0);
  CHECK(serving.window_ns() == 500);
  CHECK(serving.tail.requests.empty());
}
