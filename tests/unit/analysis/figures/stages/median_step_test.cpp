#include "analysis/figures/stages/median_step.h"

#include <map>

#include "tests/catch.h"
#include "tests/unit/analysis/trace_builder.h"

using namespace nl;
using analysis::median_step;

namespace {

std::optional<MedianStep> step_of(const Trace& trace, const std::string& stage) {
  analysis::WarmupRule every;
  every.mode = analysis::WarmupRule::Mode::kNone;
  return median_step(analysis::StagedTrace(trace, every), stage);
}

// How much of the lane each kind has.
template <class Kind>
std::map<Kind, Ns> sums(const std::vector<Ns>& end_ns, const std::vector<Kind>& kinds) {
  REQUIRE(end_ns.size() == kinds.size());
  std::map<Kind, Ns> out;
  Ns start_ns = 0;
  for (std::size_t i = 0; i < end_ns.size(); ++i) {
    CHECK(end_ns[i] > start_ns);
    out[kinds[i]] += end_ns[i] - start_ns;
    start_ns = end_ns[i];
  }
  return out;
}

// Three steps; the one of 400 ns, a nanosecond for each cell, is that of median length.
TraceBuilder three_steps() {
  TraceBuilder b;
  b.stage("step", 0, 300);
  b.stage("step", 1000, 1400);
  b.stage("step", 2000, 2900);
  b.launch(10, 20, 100);
  b.launch(1010, 1100, 100);
  b.launch(1220, 1230, 60);
  b.wait(1300, 1380);
  b.launch(2010, 2020, 500);
  return b;
}

}  // namespace

TEST_CASE("median step: each nanosecond of the window of median length is in its bin, in the lane as in the budget") {
  const auto step = step_of(three_steps().trace, "step");
  REQUIRE(step);
  CHECK(step->start_ns == 1000);
  CHECK(step->wall_ns == 400);
  CHECK(step->windows == 3);
  REQUIRE(step->budget);
  CHECK(step->budget->wall_ns == 400);
  CHECK(step->budget->gpu_compute_ns == 160);
  CHECK(step->budget->launch_starved_ns == 30);
  CHECK(step->budget->launch_latency_ns == 100);
  CHECK(step->budget->sync_blocked_ns == 80);
  CHECK(step->budget->other_host_ns == 30);
  REQUIRE(step->gpus.size() == 1);
  const StepGpu& gpu = step->gpus[0];
  CHECK((gpu.device == 0 && gpu.pid == 100));
  CHECK(gpu.end_ns == std::vector<Ns>{10, 100, 200, 220, 230, 290, 300, 380, 400});
  using enum BudgetBin;
  CHECK(gpu.bins == std::vector<BudgetBin>{kLaunchStarved, kLaunchLatency, kCompute, kLaunchStarved, kLaunchLatency, kCompute, kOtherHost,
                                           kSyncBlocked, kOtherHost});
  CHECK(step->host_end_ns == std::vector<Ns>{10, 12, 220, 222, 300, 380, 400});
  const auto host = sums(step->host_end_ns, step->host);
  CHECK(host.at(Binding::kLaunches) == 4);
  CHECK(host.at(Binding::kWaits) == 80);
  CHECK(host.at(Binding::kHostCode) == 316);
}

TEST_CASE("median step: of an even number of windows the shorter of the two in the middle") {
  TraceBuilder b;
  for (const auto& [start, end] : {std::pair<Ns, Ns>{0, 100}, {1000, 1400}, {2000, 2300}, {3000, 3900}}) b.stage("step", start, end);
  CHECK(step_of(b.trace, "step")->start_ns == 2000);
  CHECK_FALSE(step_of(b.trace, "prefill"));
}

TEST_CASE("median step: kernels shorter than a cell fill as much of the lane as of the time") {
  TraceBuilder b;
  b.stage("step", 0, 400'000);  // cells of 1000 ns
  for (Ns at = 0; at < 400'000; at += 300) b.launch(at, at + 100, 100);
  const auto step = step_of(b.trace, "step");
  REQUIRE(step);
  const auto lane = sums(step->gpus.at(0).end_ns, step->gpus[0].bins);
  CHECK(static_cast<double>(lane.at(BudgetBin::kCompute)) ==
        Approx(static_cast<double>(step->budget->gpu_compute_ns)).margin(2000));  // two cells
  Ns filled = 0;
  for (const auto& [bin, ns] : lane) filled += ns;
  CHECK(filled == 400'000);
}

TEST_CASE("median step: communication and copies are drawn where nothing else computes") {
  TraceBuilder b;
  b.stage("step", 0, 400);
  b.kernel("ncclDevKernel_AllReduce", 100, 200, b.call(0));
  b.kernel("gemm", 50, 100, b.call(4));
  b.copy(MemOpKind::kHostToDevice, 250, 350, b.call(8));
  const auto step = step_of(b.trace, "step");
  REQUIRE(step);
  const auto lane = sums(step->gpus.at(0).end_ns, step->gpus[0].bins);
  CHECK(lane.at(BudgetBin::kCompute) == 100);
  CHECK(lane.at(BudgetBin::kCommunication) == 150);
  CHECK(lane.at(BudgetBin::kExposedCopy) == 50);
  CHECK(step->budget->gpu_compute_ns == 100);
  CHECK(step->budget->communication_ns == 150);
  CHECK(step->budget->exposed_copy_ns == 50);
}

TEST_CASE("median step: each GPU of the process has a lane, those of others have none") {
  TraceBuilder b;
  const std::uint32_t other = b.process(), queue = b.queue(other, 2, 7);
  b.stage("step", 0, 400);
  b.launch(0, 10, 100, 0, 0);
  b.launch(4, 10, 300, 0, 1);
  b.launch(8, 10, 300, b.thread(other), queue);
  const auto step = step_of(b.trace, "step");
  REQUIRE(step);
  REQUIRE(step->gpus.size() == 2);
  CHECK(step->gpus[0].device == 0);
  CHECK(step->gpus[1].device == 1);
  CHECK(step->budget->gpu_compute_ns == 200);  // the mean of both
  CHECK(step->gpus_left_out == 0);
}

TEST_CASE("median step: without GPU work and calls there is a length and no lane") {
  TraceBuilder b;
  b.trace.has_kernel_data = b.trace.has_mem_data = false;
  b.stage("step", 0, 400);
  const auto step = step_of(b.trace, "step");
  REQUIRE(step);
  CHECK_FALSE(step->budget);
  CHECK(step->gpus.empty());
  CHECK(step->host.empty());
}
