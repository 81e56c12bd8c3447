#include "analysis/figures/overhead/calibration.h"

#include "tests/catch.h"
#include "tests/unit/analysis/trace_builder.h"

using namespace nl;
using namespace nl::analysis;

namespace {

constexpr Ns kUsOfSteps = 1000;
const WarmupRule kCalibrationRule{.mode = WarmupRule::Mode::kNone};
const TracingKnowledge kShippedCosts{{{4700, 9200}, {800, 4200}}, {{1700, 1700}, {1600, 1600}}, 0.67, 0.48};

// 40 blocks around a middle, with one in ten far off as a machine has them.
std::vector<double> timed_blocks(double middle_ns) {
  std::vector<double> out;
  for (int i = 0; i < 40; ++i) out.push_back(middle_ns + (i % 5 - 2) * 10 + (i % 10 == 7 ? 5000 : 0));
  return out;
}

Calibration calibrated_by(PassKind profiler, double back_to_back_ns, double amid_code_ns) {
  const auto cost = [&](CalibratedCall call, double ns) {
    return CallCost{profiler, "2025.3.1", "--trace=cuda", call, ns, ns - 100, ns + 100, 2300, 40};
  };
  return {{cost(CalibratedCall::kLaunch, back_to_back_ns), cost(CalibratedCall::kLaunchAmidCode, amid_code_ns)}, ""};
}

// Steps of 1 ms with so many launches of kernels that take so long.
TraceBuilder launching_steps(int launches, Ns kernel_us) {
  TraceBuilder builder;
  for (Ns step = 0; step < 10; ++step) {
    const Ns start = step * 1000 * kUsOfSteps;
    builder.stage("decode_step", start, start + 1000 * kUsOfSteps);
    for (int i = 0; i < launches; ++i) {
      const Ns at = start + (5 + i * 900 / launches) * kUsOfSteps;
      builder.launch(at, at + 5 * kUsOfSteps, static_cast<std::uint64_t>(kernel_us * kUsOfSteps));
    }
  }
  return builder;
}

bool calibration_matters(const TraceBuilder& builder, bool python) {
  return tracing_may_matter({builder.trace, kCalibrationRule}, python, kShippedCosts);
}

}  // namespace

TEST_CASE("calibration: what a call costs more is the difference of medians, whatever a few blocks do") {
  const auto cost = call_cost(timed_blocks(2300), timed_blocks(4000));
  REQUIRE(cost);
  CHECK(cost->ns == 1700);
  CHECK(cost->bare_ns == 2305);
  CHECK(cost->blocks == 40);
  CHECK((cost->low_ns <= 1700 && cost->low_ns > 1650));
  CHECK((cost->high_ns >= 1700 && cost->high_ns < 1750));
}

TEST_CASE("calibration: too few blocks tell nothing") {
  CHECK_FALSE(call_cost(std::vector<double>(19, 1), timed_blocks(2)));
  CHECK_FALSE(call_cost(timed_blocks(2), {}));
}

TEST_CASE("calibration: a launch costs from what it does back to back to what it does amid other code") {
  const Calibration known = calibrated_by(PassKind::kNsys, 1700, 3000);
  const auto native = calibrated_launch(known, PassKind::kNsys, false, kShippedCosts);
  REQUIRE(native);
  CHECK(native->low_ns == 1600);
  CHECK(native->high_ns == 3100);
  CHECK_FALSE(calibrated_launch(known, PassKind::kCollector, false, kShippedCosts));
  CHECK_FALSE(calibrated_launch({}, PassKind::kNsys, false, kShippedCosts));
}

TEST_CASE("calibration: where a tracer seems to make calls faster, the loops tell nothing") {
  CHECK(is_plausible({}));
  CHECK(is_plausible(calibrated_by(PassKind::kNsys, 1700, -20)));  // ± 100: it may cost next to nothing
  CHECK_FALSE(is_plausible(calibrated_by(PassKind::kNsys, 250, -6000)));
}

TEST_CASE("calibration: of Python, what the shipped figures say is brought to this machine") {
  // Twice as slow as where the figures come from.
  const auto python = calibrated_launch(calibrated_by(PassKind::kNsys, 3400, 6000), PassKind::kNsys, true, kShippedCosts);
  REQUIRE(python);
  CHECK(python->low_ns == 2 * kShippedCosts.python.nsys.low_ns);
  CHECK(python->high_ns == 2 * kShippedCosts.python.nsys.high_ns);
  SECTION("a loop that shows next to nothing does not make it free") {
    const auto nothing = calibrated_launch(calibrated_by(PassKind::kCollector, -20, 300), PassKind::kCollector, true, kShippedCosts);
    REQUIRE(nothing);
    CHECK(nothing->low_ns == 0.5 * kShippedCosts.python.collector.low_ns);
    CHECK(nothing->high_ns == 0.5 * kShippedCosts.python.collector.high_ns);
  }
}

TEST_CASE("calibration: it is worth its time where launches are a large part of a stage that the GPU does not fill") {
  CHECK(calibration_matters(launching_steps(100, 1), true));
  CHECK(calibration_matters(launching_steps(100, 1), false));
  CHECK_FALSE(calibration_matters(launching_steps(20, 1), false));  // 34 us of 1 ms
  CHECK(calibration_matters(launching_steps(20, 1), true));
  CHECK_FALSE(calibration_matters(launching_steps(100, 10), true));  // the GPU computes all the time
  CHECK_FALSE(calibration_matters(TraceBuilder(), true));
}
