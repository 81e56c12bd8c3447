#include "orchestrator/capture/limits.h"

#include "tests/catch.h"
#include "tests/unit/orchestrator/capture/pass_words.h"

using namespace nl::orchestrator;
using nl::PassKind;

namespace {

Pass start_of(PassKind kind) {
  Pass pass;
  pass.kind = kind;
  pass.starts_workload = true;
  return pass;
}

const Pass kTraced = start_of(PassKind::kNsys), kCounted = start_of(PassKind::kNcu), kPlain = start_of(PassKind::kUnprofiled),
           kAgain = start_of(PassKind::kNsysRepeat);

Plan plan_within(double budget_s) {
  Plan plan;
  plan.config.run.budget_s = budget_s;
  Pass exported;
  exported.kind = PassKind::kNsysExport;
  plan.passes = {kTraced, exported, kPlain, kAgain, kPlain, kCounted};
  return plan;
}

}  // namespace

TEST_CASE("time budget: an export does not start the workload") { CHECK(workload_starts(plan_within(0).passes) == 5); }

TEST_CASE("time budget: without one nothing is left out") {
  TimeBudget time(plan_within(0));
  time.take(kTraced, 1e6);
  CHECK_FALSE(time.refusal(kPlain));
  CHECK_FALSE(time.left_out());
}

TEST_CASE("time budget: what is worth more and comes later is kept time for") {
  TimeBudget time(plan_within(130));
  CHECK_FALSE(time.refusal(kTraced));
  time.take(kTraced, 30);
  CHECK_FALSE(time.refusal(kPlain));  // 30 + 30, and twice 30 for the counters: 120
  time.take(kPlain, 20);
  REQUIRE(time.refusal(kAgain));  // 50 + 30 + 60
  CHECK(time.refusal(kAgain)->code == nl::Code::kNoTimeLeft);
  CHECK(time.refusal(kAgain)->details == std::vector<std::string>{"130", "50", "30"});
  for (const Pass* pass : {&kAgain, &kPlain}) {
    time.leave_out(*pass);
    time.forget(*pass);
  }
  CHECK_FALSE(time.refusal(kCounted));  // 50 + 60
  time.take(kCounted, 64);
  REQUIRE(time.refusal(kCounted));  // a second try would not fit
  CHECK(time.refusal(kCounted)->details == std::vector<std::string>{"130", "114", "64"});
  REQUIRE(time.left_out());
  CHECK(time.left_out()->details == std::vector<std::string>{"130", "nsys-repeat, unprofiled"});
}

TEST_CASE("time budget: the trace is made though it takes longer") {
  TimeBudget time(plan_within(10));
  time.take(kTraced, 50);
  CHECK_FALSE(time.refusal(kTraced));
  CHECK(time.refusal(kCounted));
  Pass exported;
  CHECK_FALSE(time.refusal(exported));  // it reads what is there
}

TEST_CASE("time budget: how long it will take is known after the first pass") {
  TimeBudget time(plan_within(0));
  CHECK(time.expected_s(kPlain) == 0);
  CHECK_FALSE(time.expected_s());
  time.take(kTraced, 12);
  CHECK(time.expected_s() == 72);  // counters take twice as long
  CHECK(time.expected_s(kPlain) == 12);
  CHECK(time.expected_s(kCounted) == 24);
  CHECK(time.expected_s(Pass()) == 0);  // it reads what is there
  time.take(kPlain, 8);
  CHECK(time.expected_s(kPlain) == 12);  // by the longest: what is profiled takes longer
  CHECK(time.expected_s() == 72);
}
