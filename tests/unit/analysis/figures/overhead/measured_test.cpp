#include "analysis/figures/overhead/measured.h"

#include <algorithm>

#include "tests/catch.h"
#include "tests/unit/analysis/trace_builder.h"

using namespace nl;
using namespace nl::analysis;
using Texts = std::vector<std::string>;
using Times = std::vector<double>;

namespace {

constexpr Ns kMillisecond = 1'000'000;

PassTimes timed(PassKind kind, Ns prefill_ns, Ns whole_ns) {
  PassTimes pass{kind, {}, whole_ns};
  if (prefill_ns > 0) pass.stages.push_back({"prefill", static_cast<double>(prefill_ns), 1});
  return pass;
}

PassRecord recorded(PassKind kind, PassOutcome outcome, Ns duration_ns) { return {kind, {"x"}, 0, duration_ns, outcome, {}, {}}; }

const analysis::WarmupRule kNoWarmup{.mode = analysis::WarmupRule::Mode::kNone};

// A capture of nsys whose prefill took 300 ns, and an unprofiled pass before and after it.
Evidence compared() {
  TraceBuilder builder;
  builder.stage("prefill", 1000, 1300);
  Evidence evidence;
  evidence.tracer = Tracer::kNsys;
  evidence.trace = std::move(builder.trace);
  evidence.captured_any = true;
  evidence.overhead_note = "why none was run";
  evidence.repeats.before = {timed(PassKind::kUnprofiled, 200, 1000)};
  evidence.repeats.after = {timed(PassKind::kUnprofiled, 210, 1100), timed(PassKind::kNsys, 310, 1400)};
  evidence.repeats.notes = {"a note"};
  evidence.passes = {recorded(PassKind::kNsys, PassOutcome::kOk, 1500), recorded(PassKind::kNsysExport, PassOutcome::kOk, 77)};
  return evidence;
}

const StageSlowdown* row_of(const Perturbation& found, PassKind profiler, const std::string& stage) {
  const auto row = std::find_if(found.stages.begin(), found.stages.end(),
                                [&](const auto& each) { return each.profiler == profiler && each.stage == stage; });
  return row == found.stages.end() ? nullptr : &*row;
}

// Two GPUs of 100 and 300 W, read every 10 ms for a second; a prefill from 100 to 900 ms of it.
std::vector<PowerSample> one_second() {
  std::vector<PowerSample> samples;
  for (int i = 0; i <= 100; ++i)
    for (const std::int32_t device : {0, 1}) {
      PowerSample& sample = samples.emplace_back();
      sample.utc_ns = i * 10 * kMillisecond;
      sample.device = device;
      sample.power_w = device == 0 ? 100 : 300;
      sample.energy_j = *sample.power_w * i * 0.01;
    }
  return samples;
}

struct Metered {
  Evidence evidence;
  Run run;
  Metered() {
    TraceBuilder builder;
    builder.stage("prefill", 100 * kMillisecond, 900 * kMillisecond);
    builder.trace.utc_start_ns = 0;
    for (const std::int32_t id : {0, 1}) {
      Device& device = builder.trace.devices.emplace_back();
      device.id = id;
      device.uuid = id == 0 ? "aaaa" : "bbbb";
    }
    evidence.trace = std::move(builder.trace);
    evidence.tracer = Tracer::kNsys;
    evidence.power_note = "why";
    evidence.meter_uuids = {"GPU-aaaa", "GPU-bbbb"};
    evidence.power = one_second();
    run.kernels.emplace().emplace_back().device = 1;
    run.stages.emplace_back().name = "decode";
    run.stages.back().tokens_per_window = 9;
    run.stages.emplace_back().name = "prefill";
    run.stages.back().tokens_per_window = 4;
  }
  Energy measure() const { return measured_energy(evidence, {evidence.trace, kNoWarmup}, run.kernels, run.stages); }
  double joules() const {
    const Energy energy = measure();
    REQUIRE(energy.stages.size() == 1);
    REQUIRE(energy.stages[0].joules_per_window);
    return *energy.stages[0].joules_per_window;
  }
};

}  // namespace

TEST_CASE("overhead: the passes before, the capture, those after, and ncu, in this order") {
  Evidence evidence = compared();
  evidence.passes.push_back(recorded(PassKind::kNcu, PassOutcome::kOk, 9000));
  const Perturbation found = measured_overhead(evidence, {evidence.trace, kNoWarmup});
  CHECK(found.order == "unprofiled nsys unprofiled nsys ncu");
  CHECK(found.note.empty());
  CHECK(found.notes.back() == "a note");
  const StageSlowdown* row = row_of(found, PassKind::kNsys, "prefill");
  REQUIRE(row != nullptr);
  CHECK(row->bare_ns == Times{200, 210});
  CHECK(row->profiled_ns == Times{300, 310});
  row = row_of(found, PassKind::kNcu, "whole run");
  REQUIRE(row != nullptr);
  CHECK(row->bare_ns == Times{1000, 1100});
  CHECK(row->profiled_ns == Times{9000});
}

TEST_CASE("overhead: a pass that failed does not count, and of several good ones the last does") {
  Evidence evidence = compared();
  evidence.passes.push_back(recorded(PassKind::kNcu, PassOutcome::kFailed, 9000));
  evidence.passes.push_back(recorded(PassKind::kNcuExportRaw, PassOutcome::kOk, 8000));
  CHECK(measured_overhead(evidence, {evidence.trace, kNoWarmup}).order == "unprofiled nsys unprofiled nsys");
  evidence.passes.push_back(recorded(PassKind::kNcu, PassOutcome::kOk, 7000));
  evidence.passes.push_back(recorded(PassKind::kNcu, PassOutcome::kTimeout, 6000));
  const Perturbation found = measured_overhead(evidence, {evidence.trace, kNoWarmup});
  REQUIRE(row_of(found, PassKind::kNcu, "whole run") != nullptr);
  CHECK(row_of(found, PassKind::kNcu, "whole run")->profiled_ns == Times{7000});
}

TEST_CASE("overhead: where no stage is marked, whole passes are compared") {
  Evidence evidence = compared();
  evidence.trace = {};
  evidence.repeats.before = {timed(PassKind::kUnprofiled, 0, 1000)};
  evidence.repeats.after = {timed(PassKind::kUnprofiled, 0, 1100)};
  evidence.tracer = GENERATE(Tracer::kNsys, Tracer::kCupti);
  const PassKind kind = evidence.tracer == Tracer::kNsys ? PassKind::kNsys : PassKind::kCollector;
  evidence.trace.has_kernel_data = true;
  evidence.passes = {recorded(PassKind::kNsys, PassOutcome::kOk, 1500), recorded(PassKind::kCollector, PassOutcome::kOk, 1600)};
  const Perturbation found = measured_overhead(evidence, {evidence.trace, kNoWarmup});
  REQUIRE(row_of(found, kind, "whole run") != nullptr);
  CHECK(row_of(found, kind, "whole run")->profiled_ns == Times{kind == PassKind::kNsys ? 1500.0 : 1600.0});
}

TEST_CASE("overhead: where it was not measured it says why") {
  Evidence evidence = compared();
  SECTION("no unprofiled pass") {
    evidence.repeats.before.clear();
    CHECK(measured_overhead(evidence, {evidence.trace, kNoWarmup}).note.empty());  // there are some after the capture
    evidence.repeats.after.clear();
    CHECK(measured_overhead(evidence, {evidence.trace, kNoWarmup}).note == "why none was run");
  }
  SECTION("no GPU work") {
    evidence.tracer = Tracer::kCupti;
    evidence.trace.has_kernel_data = false;
    CHECK(measured_overhead(evidence, {evidence.trace, kNoWarmup}).note == "overhead not measured: no GPU work was recorded");
  }
  const Perturbation found = measured_overhead(evidence, {evidence.trace, kNoWarmup});
  CHECK(found.notes == Texts{"a note"});
  CHECK(found.stages.empty());
}

TEST_CASE("overhead: a capture that left nothing is no pass to compare") {
  Evidence evidence = compared();
  evidence.captured_any = false;
  CHECK(measured_overhead(evidence, {evidence.trace, kNoWarmup}).order == "unprofiled unprofiled nsys");
}

TEST_CASE("energy: of the GPUs that ran something, per window and token") {
  Metered metered;
  const Energy energy = metered.measure();
  CHECK(energy.pass == "nsys");
  CHECK(energy.note.empty());
  REQUIRE(energy.stages.size() == 1);
  CHECK(energy.stages[0].stage == "prefill");
  CHECK(*energy.stages[0].joules_per_window == Approx(240));  // sums of floating point numbers
  CHECK(*energy.stages[0].joules_per_token == Approx(60));
  metered.run.stages.back().tokens_per_window.reset();
  CHECK_FALSE(metered.measure().stages[0].joules_per_token);
  REQUIRE(energy.devices.size() == 1);
  CHECK(energy.devices[0].device == 1);

  metered.run.kernels->front().device = 0;
  CHECK(metered.joules() == Approx(80));
  // A graph that ran as a whole is work as well: queue 1 is GPU 1's.
  metered.evidence.trace.graph_runs.push_back({1, 2, 1, 0});
  CHECK(metered.joules() == Approx(320));
  metered.evidence.trace.graph_runs[0].queue = 99;
  CHECK(metered.joules() == Approx(80));
}

TEST_CASE("energy: where it is not known which GPUs were used it is of all, and that is said") {
  Metered metered;
  const int why = GENERATE(0, 1, 2);
  if (why == 0) metered.run.kernels.reset();
  if (why == 1) metered.evidence.meter_uuids = {"", ""};
  if (why == 2) metered.evidence.trace.devices[1].uuid.clear();
  CHECK(metered.joules() == Approx(320));
  CHECK(metered.measure().note == "which GPUs the workload used is not known: the joules are those of all 2");
  metered.evidence.meter_uuids->resize(1);
  CHECK(metered.measure().note == "");
}

TEST_CASE("energy: of the unprofiled passes where there are some, because tracing costs energy too") {
  Metered metered;
  auto halved = one_second();
  for (PowerSample& sample : halved) *sample.energy_j /= 2;
  metered.evidence.repeats.unprofiled_power = {{halved, {{"prefill", {{100 * kMillisecond, 900 * kMillisecond}}, {}}}}};
  CHECK(metered.measure().pass == "unprofiled");
  CHECK(metered.joules() == Approx(120));
  CHECK(*metered.measure().stages[0].joules_per_token == Approx(30));
}

TEST_CASE("energy: without a meter the note says why, and the collector's own pass has its name") {
  Metered metered;
  metered.evidence.tracer = Tracer::kCupti;
  CHECK(metered.measure().pass == "collector");
  metered.evidence.meter_uuids.reset();
  CHECK(metered.measure().note == "why");
  CHECK(metered.measure().stages.empty());
}
