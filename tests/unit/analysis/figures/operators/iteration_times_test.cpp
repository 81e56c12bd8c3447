#include "analysis/figures/operators/steps.h"

#include "tests/catch.h"

using namespace nl;
using namespace nl::analysis;

namespace {

OperatorStep two_calls(Ns first_ns, Ns second_ns, Ns wall_ns, const char* second = "Add") {
  OperatorStep step;
  step.wall_ns = wall_ns;
  step.calls.resize(2);
  step.calls[0].name = "MatMul";
  step.calls[0].host_ns = first_ns;
  step.calls[1].name = second;
  step.calls[1].host_ns = second_ns;
  step.calls[1].gpu_recorded_ns = 10 * second_ns;
  return step;
}

}  // namespace

TEST_CASE("times have a median, nearest ranks and both ends") {
  const OperatorTimes odd = times_of({30, 10, 20});
  CHECK(odd.count == 3);
  CHECK(odd.total_ns == 60);
  CHECK(odd.median_ns == 20);
  CHECK(odd.min_ns == 10);
  CHECK(odd.p10_ns == 10);
  CHECK(odd.p90_ns == 30);
  CHECK(odd.max_ns == 30);
  CHECK(times_of({1, 2, 3, 10}).median_ns == 2.5);
  std::vector<Ns> twenty;
  for (Ns i = 20; i > 0; --i) twenty.push_back(i);
  CHECK(times_of(twenty).p10_ns == 2);
  CHECK(times_of(twenty).p90_ns == 18);
  CHECK(times_of({}).count == 0);
  CHECK_FALSE(times_of({}).min_ns);
}

TEST_CASE("times over iterations are those with the same calls") {
  const std::vector<OperatorStep> iterations = {two_calls(5, 1, 10), two_calls(7, 3, 14), two_calls(6, 2, 11),
                                                two_calls(99, 99, 500, "Mul")};
  OperatorStep step = iterations[0];
  add_times_of(iterations, step);
  CHECK(step.iterations == 3);
  CHECK(step.wall_ns == 11);
  CHECK(step.calls[0].host_ns == 5);
  REQUIRE(step.calls[0].host_times);
  CHECK(step.calls[0].host_times->median_ns == 6);
  CHECK(step.calls[0].host_times->max_ns == 7);
  CHECK_FALSE(step.calls[0].gpu_times);
  CHECK(step.calls[1].gpu_times->total_ns == 60);
}

TEST_CASE("a step alone has no spread") {
  OperatorStep step = two_calls(5, 1, 10);
  const std::vector<OperatorStep> alone = {step};
  add_times_of(alone, step);
  CHECK(step.iterations == 1);
  CHECK_FALSE(step.calls[0].host_times);
}
