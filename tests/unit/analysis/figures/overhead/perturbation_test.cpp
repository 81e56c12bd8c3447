#include "analysis/figures/overhead/measured.h"

#include <random>

#include "tests/catch.h"

using namespace nl;
using namespace nl::analysis;

namespace {

PassTimes pass(PassKind profiler, double decode_ms, std::uint64_t windows = 4) {
  return {profiler, {{"decode", decode_ms * 1e6, windows}}, static_cast<Ns>(decode_ms * 2e6)};
}

// bare, nsys, bare, nsys …
std::vector<PassTimes> in_turn(const std::vector<double>& bare, const std::vector<double>& nsys) {
  std::vector<PassTimes> passes;
  for (std::size_t i = 0; i < std::max(bare.size(), nsys.size()); ++i) {
    if (i < bare.size()) passes.push_back(pass(PassKind::kUnprofiled, bare[i]));
    if (i < nsys.size()) passes.push_back(pass(PassKind::kNsys, nsys[i]));
  }
  return passes;
}

StageSlowdown only(const Perturbation& perturbation) {
  REQUIRE(perturbation.stages.size() == 1);
  return perturbation.stages[0];
}

void add_range(Trace& trace, const std::string& name, Ns start_ns, Ns end_ns) {
  Range range;
  range.start_ns = start_ns;
  range.end_ns = end_ns;
  range.name = trace.strings.intern(name);
  range.domain = trace.strings.intern("LLM");
  range.thread = 0;
  trace.ranges.push_back(range);
}

}  // namespace

TEST_CASE("a steady 20 % is over the limit, and is warned of") {
  const auto result = compare_passes(in_turn({4.00, 4.02, 3.99}, {4.81, 4.80, 4.79}));
  const auto row = only(result);
  CHECK(row.profiler == PassKind::kNsys);
  CHECK(row.stage == "decode");
  CHECK(row.bare_ns == std::vector<double>{4.00 * 1e6, 4.02 * 1e6, 3.99 * 1e6});
  CHECK(row.profiled_ns.size() == 3);
  CHECK(*row.slowdown == Approx(0.199).margin(0.002));  // by hand: 4.80 / 4.003
  CHECK(*row.low > 0.05);
  CHECK(row.verdict == nl::SlowdownVerdict::kOverLimit);
  CHECK(result.order == "unprofiled nsys unprofiled nsys unprofiled nsys");
  REQUIRE(result.notes.size() == 1);
  CHECK(result.notes[0].find("decode ran 19.9 % slower under nsys (95 %:") == 0);
  CHECK(result.note.empty());
}

TEST_CASE("a steady 3 % is under the limit, and no chance either") {
  const auto row = only(compare_passes(in_turn({4.00, 4.01, 3.99}, {4.12, 4.11, 4.13})));
  CHECK(row.verdict == nl::SlowdownVerdict::kUnderLimit);
  CHECK(*row.low > 0);
  CHECK(row.summary.find("decode ran 3.0 % slower under nsys") == 0);
}

TEST_CASE("bare passes that differ by 20 % decide nothing") {
  // As seen on an H200: single pairs out of these would say anything from -8 % to 17 %.
  const auto result = compare_passes(in_turn({4.0, 4.8, 4.3}, {4.4, 4.7, 4.5}));
  const auto row = only(result);
  CHECK(row.verdict == nl::SlowdownVerdict::kUndecidable);
  CHECK(row.summary.find("no measurable slowdown") != std::string::npos);
  CHECK(row.summary.find("more than 5 % is neither shown nor excluded") != std::string::npos);
  CHECK(result.notes.empty());
}

TEST_CASE("an interval around zero is no measurable slowdown") {
  const auto row = only(compare_passes(in_turn({4.00, 4.02, 3.99}, {4.01, 3.99, 4.00})));
  CHECK(row.verdict == nl::SlowdownVerdict::kUnderLimit);
  CHECK(row.summary.find("decode under nsys: no measurable slowdown (95 %: -") == 0);
}

TEST_CASE("an interval too wide to mean anything is left out") {
  const auto row = only(compare_passes(in_turn({4.0, 4.1}, {4.2, 9.0})));
  CHECK(row.verdict == nl::SlowdownVerdict::kUndecidable);
  CHECK(row.summary == "decode under nsys: the passes vary too much to measure a slowdown");
}

TEST_CASE("one pass each gives a number and no verdict") {
  const auto row = only(compare_passes(in_turn({4.0}, {8.0})));
  CHECK(*row.slowdown == Approx(1.0));
  CHECK_FALSE(row.low);
  CHECK_FALSE(row.high);
  CHECK(row.verdict == nl::SlowdownVerdict::kUndecidable);
  CHECK(row.summary.find("too few passes for a range") != std::string::npos);
  CHECK(only(compare_passes(in_turn({4.0, 4.1}, {8.0}))).verdict == nl::SlowdownVerdict::kUndecidable);
}

TEST_CASE("passes of equal cost are hardly ever called slower") {
  std::mt19937 random(11);
  std::lognormal_distribution<double> ms(1.4, 0.05);
  int over = 0;
  for (int i = 0; i < 1000; ++i) {
    const auto row = only(compare_passes(in_turn({ms(random), ms(random), ms(random)}, {ms(random), ms(random), ms(random)})));
    over += row.verdict == nl::SlowdownVerdict::kOverLimit;
    REQUIRE(*row.low <= *row.slowdown);
    REQUIRE(*row.slowdown <= *row.high);
  }
  // The interval lies wholly above zero in 2.5 %, above 5 % more seldom.
  CHECK(over < 25);
}

TEST_CASE("ncu is compared by the whole run") {
  auto passes = in_turn({4.00, 4.02, 3.99}, {4.1, 4.1, 4.2});
  passes.push_back({PassKind::kNcu, {}, 80'000'000});
  const auto result = compare_passes(passes);
  REQUIRE(result.stages.size() == 2);
  const auto& row = result.stages[1];
  CHECK(row.profiler == PassKind::kNcu);
  CHECK(row.stage == "whole run");
  CHECK(*row.slowdown == Approx(9).epsilon(0.01));  // 80 ms for 8.0
  CHECK(row.verdict == nl::SlowdownVerdict::kOverLimit);
  CHECK(row.note.find("whole passes are compared") != std::string::npos);
  CHECK(result.notes.empty());  // expected of ncu
  CHECK(result.order == "unprofiled nsys unprofiled nsys unprofiled nsys ncu");
}

TEST_CASE("what cannot be compared says why") {
  CHECK(compare_passes({}).note == "no unprofiled pass to compare with");
  CHECK(compare_passes({pass(PassKind::kNsys, 4)}).note == "no unprofiled pass to compare with");
  CHECK(compare_passes({pass(PassKind::kUnprofiled, 4)}).note == "no profiled pass to compare with");
  SECTION("not the same work") {
    const PassTimes bare = pass(PassKind::kUnprofiled, 4, 64), traced = pass(PassKind::kNsys, 4, 1);
    const auto row = only(compare_passes({bare, traced, bare, traced}));
    CHECK_FALSE(row.slowdown);
    CHECK(row.verdict == nl::SlowdownVerdict::kUndecidable);
    CHECK(row.note == "the passes differ in work: 1 to 64 windows");
  }
  SECTION("a stage that took no time") {
    const auto row = only(compare_passes(in_turn({0, 4}, {4, 4})));
    CHECK_FALSE(row.slowdown);
    CHECK(row.note == "it takes no time in at least one pass");
  }
  SECTION("a stage of one kind of pass only") {
    auto passes = in_turn({4, 4}, {4, 4});
    passes[0].stages.push_back({"vision", 1e6, 1});
    const auto result = compare_passes(passes);
    REQUIRE(result.stages.size() == 2);
    CHECK(result.stages[1].note == "no nsys pass has it");
  }
  SECTION("no stages at all: the whole run") {
    const auto row = only(compare_passes(
        {{PassKind::kUnprofiled, {}, 100}, {PassKind::kNsys, {}, 150}, {PassKind::kUnprofiled, {}, 100}, {PassKind::kNsys, {}, 150}}));
    CHECK(row.stage == "whole run");
    CHECK(*row.slowdown == Approx(0.5));
    CHECK(row.note.find("no stage is marked") == 0);
  }
}

TEST_CASE("the times of a pass leave out what is warm-up, and count it") {
  Trace trace;
  trace.processes.push_back({1, "w"});
  trace.threads.push_back({0, 1, "w"});
  trace.has_range_data = true;
  const Ns lengths[] = {900, 100, 110, 120};
  Ns now = 0;
  for (const Ns length : lengths) {
    add_range(trace, "prefill", now, now + length);
    now += length + 10;
  }
  WarmupRule first;
  first.mode = WarmupRule::Mode::kCount;
  first.count = 1;
  const auto times = pass_times(PassKind::kNsys, {trace, first}, 5000);
  REQUIRE(times.stages.size() == 1);
  CHECK(times.stages[0].stage == "prefill");
  CHECK(times.stages[0].median_ns == 110);
  CHECK(times.stages[0].windows == 4);
  CHECK(times.duration_ns == 5000);
  CHECK(pass_times(PassKind::kUnprofiled, {Trace{}, first}, 1).stages.empty());
}
