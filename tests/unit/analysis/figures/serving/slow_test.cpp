#include "tests/unit/analysis/figures/serving/serving_trace.h"

using namespace nl;

namespace {

constexpr Ns kMilli = 1'000'000;

// Requests one after another, each of four tokens: 1 ms of queue, 10 of prefill, four steps of 10 with 1 between them, 1 of detokenising.
class SteadyServer : public ServingTrace {
 public:
  struct Odd {
    Ns queue = kMilli, prefill = 10 * kMilli, between = kMilli, decode = 10 * kMilli, detokenising = kMilli, preempted = 0;
  };
  void serve(int id, const Odd& odd) {
    arrived(id, at_, 8);
    at_ += odd.queue;
    step(fmt::format("{}:prefill:8", id), at_, at_ + odd.prefill);
    at_ += odd.prefill;
    for (int token = 0; token < 4; ++token) {
      range("engine", "plan", at_, at_ + odd.between, scheduler);
      at_ += odd.between;
      if (token == 2 && odd.preempted > 0) {
        preempted(id, at_);
        at_ += odd.preempted;
        step(fmt::format("{}:prefill:10", id), at_, at_ + odd.prefill);
        at_ += odd.prefill;
      }
      step(fmt::format("{}:decode:1", id), at_, at_ + odd.decode);
      at_ += odd.decode;
    }
    finished(id, at_, 4);
    at_ += odd.detokenising;
    detokenised(id, at_);
    at_ += kMilli;
  }
  Serving serve_all(const Odd& odd) {
    for (int id = 1; id <= 12; ++id) serve(id, id == 7 ? odd : Odd());
    return bill();
  }

 private:
  Ns at_ = 10 * kMilli;
};

SlowRequest only_slow(const Serving& serving) {
  REQUIRE(serving.tail.judged == 12);
  REQUIRE(serving.tail.requests.size() == 1);
  return serving.tail.requests.front();
}

}  // namespace

TEST_CASE("slow requests: each cause is found against requests of like sizes") {
  const std::vector<std::pair<SteadyServer::Odd, ServingPart>> causes = {{{.queue = 60 * kMilli}, ServingPart::kQueue},
                                                                         {{.prefill = 60 * kMilli}, ServingPart::kPrefill},
                                                                         {{.between = 20 * kMilli}, ServingPart::kBetweenSteps},
                                                                         {{.decode = 30 * kMilli}, ServingPart::kDecode},
                                                                         {{.detokenising = 60 * kMilli}, ServingPart::kDetokenising},
                                                                         {{.preempted = 60 * kMilli}, ServingPart::kPreemption}};
  for (const auto& [odd, cause] : causes) {
    const Serving serving = SteadyServer().serve_all(odd);
    const SlowRequest slow = only_slow(serving);
    CAPTURE(static_cast<int>(cause));
    CHECK(slow.id == 7);
    CHECK(slow.peers == 11);
    CHECK(slow.peer_median_ns == 56.0 * kMilli);
    CHECK(slow.slower_than_peers);
    CHECK(slow.cause == cause);
    CHECK(slow.cause_ns == slow.excess[cause]);
    CHECK(slow.latency_ns - 56 * kMilli == slow.excess.total());
    REQUIRE(serving.tail.causes.size() == 1);
    CHECK(serving.tail.causes[0].part == cause);
  }
}

TEST_CASE("slow requests: where all are alike, the cause is what is not their own computing, with the range that it lies in") {
  SteadyServer server;
  for (int id = 1; id <= 12; ++id) server.serve(id, {.between = 20 * kMilli});
  const Serving serving = server.bill();
  const SlowRequest slow = only_slow(serving);
  CHECK_FALSE(slow.slower_than_peers);
  CHECK(slow.cause == ServingPart::kBetweenSteps);
  CHECK(slow.cause_ns == 80 * kMilli);
  REQUIRE_FALSE(serving.between_code.empty());
  CHECK(serving.between_code[0].range == "plan");
  CHECK(serving.between_code[0].process == "scheduler");
  CHECK(serving.between_code[0].ns == 12 * 80 * kMilli);
}

TEST_CASE("slow requests: a long prompt beside short ones is named") {
  ServingTrace trace;
  Ns at = 0;
  for (int id = 1; id <= 12; ++id) {
    trace.arrived(id, at, 8);
    trace.step(fmt::format("{}:prefill:8", id), at + kMilli, at + 3 * kMilli);
    at += 3 * kMilli;
    if (id == 7) trace.arrived(99, at, 4000);
    for (int token = 0; token < 4; ++token, at += 10 * kMilli)
      if (id == 7) trace.step("7:decode:1,99:prefill:1000", at, at + 10 * kMilli);
      else trace.step(fmt::format("{}:decode:1", id), at, at + 2 * kMilli), at -= 8 * kMilli;
    trace.finished(id, at, 4);
    if (id == 7) trace.step("99:decode:1", at, at + 2 * kMilli), trace.finished(99, at += 2 * kMilli, 1);
  }
  const Serving serving = trace.bill();
  CHECK(serving.tail.judged == 13);
  REQUIRE(serving.tail.requests.size() == 1);
  const SlowRequest& slow = serving.tail.requests[0];
  CHECK(slow.id == 7);
  CHECK(slow.cause == ServingPart::kInterference);
  CHECK(slow.cause_ns == 4 * 8 * kMilli);
  CHECK(slow.others == std::vector<std::uint64_t>{99});
}

TEST_CASE("slow requests: without five of like sizes nothing is compared") {
  ServingTrace trace;
  for (int id = 1; id <= 5; ++id) {
    trace.arrived(id, id * 1000, 8 << id);
    trace.step(fmt::format("{}:prefill:8", id), id * 1000 + 10 * id, id * 1000 + 500);
    trace.finished(id, id * 1000 + 500);
  }
  const Serving serving = trace.bill();
  REQUIRE(serving.tail.requests.size() == 1);
  CHECK_FALSE(serving.tail.requests[0].peer_median_ns);
  CHECK_FALSE(serving.tail.requests[0].slower_than_peers);
  CHECK(serving.tail.requests[0].cause == ServingPart::kQueue);
}

TEST_CASE("slow requests: the slowest percent") {
  SteadyServer server;
  for (int id = 1; id <= 205; ++id) server.serve(id, {.queue = id % 100 == 50 ? 90 * kMilli : kMilli});
  const Serving serving = server.bill();
  REQUIRE(serving.tail.requests.size() == 3);  // of 205
  CHECK(serving.tail.requests[0].cause_ns == 89 * kMilli);
  CHECK(serving.tail.requests[1].cause_ns == 89 * kMilli);
  CHECK(serving.tail.causes[0].part == ServingPart::kQueue);
  CHECK(serving.tail.latency_ns == serving.tail.times.total());
}

TEST_CASE("slow requests: latencies have intervals where there are enough of them") {
  SteadyServer server;
  for (int id = 1; id <= 120; ++id) server.serve(id, {.queue = id * kMilli / 10});
  const Serving serving = server.bill();
  REQUIRE(serving.latencies.size() == 2);  // no first tokens are marked
  const ServingLatency& queue = serving.latencies[0];
  CHECK(queue.figure == ServingLatency::Figure::kQueue);
  CHECK(queue.count == 120);
  CHECK(queue.quantiles.back().share == 0.99);
  double before = 0;
  for (const auto& each : queue.quantiles) {
    CHECK(each.ns >= before);
    before = each.ns;
    if (each.low_ns) CHECK((*each.low_ns <= each.ns && each.ns <= *each.high_ns));
  }
}
