#include "analysis/figures/overhead/launch_steps.h"

#include "analysis/figures/overhead/measured.h"
#include "model/headline.h"
#include "tests/catch.h"
#include "tests/unit/analysis/trace_builder.h"

using namespace nl;
using namespace nl::analysis;

namespace {

const WarmupRule kLaunchStepsRule{.mode = WarmupRule::Mode::kNone};
constexpr std::uint32_t kMoveNumber = 40, kCountNumber = 42, kWriteNumber = 44;  // functions as a pass numbers them

// So many steps of 3 launches, each 1000 ns long in the trace, after launches that warm up; a copy begins each step.
struct LaunchingProgram {
  TraceBuilder builder;
  std::vector<Launch> pass;  // the same in 700 ns a step
  Ns time_ns = 0, pass_ns = 5'000'000;

  explicit LaunchingProgram(int steps, int warm_up = 4, int more_in_pass = 0) {
    for (int i = 0; i < warm_up + more_in_pass; ++i, pass_ns += 50) pass.push_back({pass_ns, kWriteNumber});
    for (int i = 0; i < warm_up; ++i, time_ns += 100) launch("write");
    for (int i = 0; i < steps; ++i) step(i);
  }
  void launch(const char* name) { builder.kernel(name, time_ns + 20, 10, builder.call(time_ns)); }
  void step(int number) {
    builder.range("nl-stage", "step", time_ns, time_ns + 1000);
    builder.copy(MemOpKind::kHostToDevice, time_ns + 5, time_ns + 9, builder.call(time_ns, 0, "cudaMemcpyAsync"));
    const std::pair<const char*, std::uint32_t> work[] = {{"move", kMoveNumber}, {"count", kCountNumber}, {"move", kMoveNumber}};
    for (int i = 0; i < 3; ++i) {
      builder.kernel(work[i].first, time_ns + 210 + i * 100, 10, builder.call(time_ns + 200 + i * 100));
      pass.push_back({pass_ns + 50 + i * 10, work[i].second});
    }
    time_ns += 1000;
    pass_ns += 700 + number % 2;
  }
  LaunchSteps found() const { return steps_by_launches({builder.trace, kLaunchStepsRule}, {ThreadLaunches{pass}}); }
};

}  // namespace

TEST_CASE("launches: a step of the trace is found again by the number of its first launch") {
  const LaunchingProgram program(21);
  const LaunchSteps found = program.found();
  INFO(found.trouble);
  REQUIRE(found.stages.size() == 1);
  CHECK(found.stages[0].stage == "step");
  CHECK(found.stages[0].median_ns == 700.5);
  CHECK(found.stages[0].windows == 21);
}

TEST_CASE("launches: a pass that warms up by more launches is aligned from its end") {
  const LaunchSteps found = LaunchingProgram(10, 4, 5).found();
  REQUIRE(found.stages.size() == 1);
  CHECK(found.stages[0].median_ns == 700);
}

TEST_CASE("launches: a pass that does more at its end is aligned from its beginning") {
  LaunchingProgram program(10);
  for (int i = 0; i < 7; ++i) program.pass.push_back({program.pass_ns + i, kWriteNumber});
  REQUIRE(program.found().stages.size() == 1);
}

TEST_CASE("launches: of several threads the one that launches the same is taken") {
  LaunchingProgram program(10);
  const std::vector<Launch> other(program.pass.size(), Launch{1, kWriteNumber});
  const LaunchSteps found =
      steps_by_launches({program.builder.trace, kLaunchStepsRule}, {ThreadLaunches{other}, ThreadLaunches{program.pass}});
  REQUIRE(found.stages.size() == 1);
  CHECK(found.stages[0].median_ns == 700);
}

TEST_CASE("launches: where the pass launches something else, no time is told and the reason is") {
  LaunchingProgram program(10);
  SECTION("in another order") {
    for (std::size_t i = 0; i < program.pass.size(); i += 5) program.pass[i].what = kWriteNumber;
  }
  SECTION("in the middle one more, so that the steps no longer stand where they did") {
    program.pass.insert(program.pass.begin() + 15, Launch{program.pass[15].time_ns, kWriteNumber});
  }
  SECTION("less than the steps of the trace") { program.pass.resize(8); }
  const LaunchSteps found = program.found();
  CHECK(found.stages.empty());
  CHECK(found.trouble.find("not those of the trace") != std::string::npos);
}

TEST_CASE("launches: equal kernels fit anywhere, so that only an equal number of launches will do") {
  TraceBuilder builder;
  std::vector<Launch> pass;
  for (int i = 0; i < 12; ++i) {
    builder.range("nl-stage", "step", i * 100, i * 100 + 100);
    builder.kernel("one", i * 100 + 20, 10, builder.call(i * 100));
    pass.push_back({i * 80, kMoveNumber});
  }
  CHECK(steps_by_launches({builder.trace, kLaunchStepsRule}, {ThreadLaunches{pass}}).stages.size() == 1);
  pass.push_back({9999, kMoveNumber});
  CHECK(steps_by_launches({builder.trace, kLaunchStepsRule}, {ThreadLaunches{pass}}).stages.empty());
}

TEST_CASE("launches: steps that do not follow each other at once have no end that the pass knows") {
  TraceBuilder builder;
  std::vector<Launch> pass;
  for (int i = 0; i < 12; ++i) {
    builder.range("nl-stage", "step", i * 1000, i * 1000 + 300);
    builder.kernel("one", i * 1000 + 20, 10, builder.call(i * 1000));
    pass.push_back({i * 80, kMoveNumber});
  }
  const LaunchSteps found = steps_by_launches({builder.trace, kLaunchStepsRule}, {ThreadLaunches{pass}});
  CHECK(found.stages.empty());
  CHECK(found.trouble == "the trace has no steps that follow each other at once");
}

TEST_CASE("launches: where first launches do not tell how long a window takes, nothing is told of its stage") {
  TraceBuilder builder;
  std::vector<Launch> pass;
  const std::pair<const char*, Ns> kinds[] = {{"prefill", 400}, {"decode_step", 0}};  // a prefill launches late
  for (int i = 0; i < 24; ++i) {
    const auto& [name, late] = kinds[i % 12 == 0 ? 0 : 1];
    builder.range("nl-stage", name, i * 1000, i * 1000 + 1000);
    builder.kernel(name, i * 1000 + late + 20, 10, builder.call(i * 1000 + late));
    pass.push_back({i * 800 + late, i % 12 == 0 ? kMoveNumber : kCountNumber});
  }
  const LaunchSteps found = steps_by_launches({builder.trace, kLaunchStepsRule}, {ThreadLaunches{pass}});
  REQUIRE(found.stages.size() == 1);
  CHECK(found.stages[0].stage == "decode_step");
  CHECK(found.stages[0].median_ns == 800);
}

TEST_CASE("launches: the time of a step goes where that of a marked stage goes") {
  LaunchingProgram program(21);
  Evidence evidence;
  evidence.tracer = Tracer::kNsys;
  evidence.captured_any = true;
  evidence.trace = std::move(program.builder.trace);
  PassTimes unprofiled{PassKind::kUnprofiled, {}, 900};
  evidence.repeats.before = {unprofiled};
  unprofiled.launches = {ThreadLaunches{program.pass}};
  evidence.repeats.after = {unprofiled, {PassKind::kNsys, {{"step", 1010, 21}}, 1400}, unprofiled};
  const Perturbation found = measured_overhead(evidence, {evidence.trace, kLaunchStepsRule});
  REQUIRE(found.stages.size() == 1);
  CHECK(found.stages[0].bare_ns == std::vector<double>{700.5, 700.5});
  CHECK(found.stages[0].profiled_ns == std::vector<double>{1000, 1010});
  CHECK(unprofiled_ns(found.stages[0]) == 700.5);
  CHECK(found.notes.back() ==
        "no range marks the steps: their unprofiled times are of 2 passes that recorded when each launch was made and nothing else");
  SECTION("and where it does not match, why not is noted once") {
    for (PassTimes& pass : evidence.repeats.after)
      for (ThreadLaunches& thread : pass.launches) thread.launches.resize(3);
    const Perturbation none = measured_overhead(evidence, {evidence.trace, kLaunchStepsRule});
    CHECK(none.stages.at(0).note == "no unprofiled pass has it");
    REQUIRE(none.notes.size() == 1);
    CHECK(none.notes[0].starts_with("an unprofiled pass tells no time of a step: its launches are not those of the trace"));
  }
}
