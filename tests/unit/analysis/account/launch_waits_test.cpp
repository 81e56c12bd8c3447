#include "analysis/account/launch_waits.h"

#include <string>

#include "tests/catch.h"
#include "tests/unit/analysis/trace_builder.h"

using nl::CallKind;
using nl::MemOpKind;

namespace {

const nl::LaunchWaits& waits_of(const nl::Run& run, const char* name) {
  const auto& entry = ::stage(run, name);
  REQUIRE(entry.launch_waits);
  return *entry.launch_waits;
}

const nl::LateLaunches* late(const nl::LaunchWaits& host, CallKind before, CallKind launch) {
  for (const auto& each : host.late)
    if (each.before == before && each.launch == launch) return &each;
  return nullptr;
}

void other_call(TraceBuilder& b, nl::Ns start, nl::Ns end, const char* name, std::uint32_t thread = 0) {
  b.call(start, thread, name, static_cast<std::uint64_t>(end - start));
  b.trace.other_calls.push_back(b.trace.api_calls.back());
  b.trace.api_calls.pop_back();
}

}  // namespace

TEST_CASE("late launches are told by their kind and by the thread's call before") {
  TraceBuilder b;
  b.stage("decode_step", 0, 1000);
  b.kernel("g", 10, 90, b.call(10, 0, "cudaGraphLaunch", 5));                        // 0..10 starved, before any call
  b.kernel("k", 160, 40, b.call(150, 0, "cudaLaunchKernel", 5));                     // 100..150 starved, after a graph
  b.wait(190, 230);                                                                  // 200..230 blocked
  b.copy(MemOpKind::kHostToDevice, 290, 300, b.call(280, 0, "cudaMemcpyAsync", 4));  // 230..280 starved, after a wait
  b.kernel("g", 350, 50, b.call(340, 0, "cudaGraphLaunch", 5));                      // 300..340 starved, after a copy
  b.kernel("g", 480, 520, b.call(470, 0, "cudaGraphLaunch", 5));                     // 400..470 starved, after a graph
  const auto run = b.run();
  const auto& host = waits_of(run, "decode_step");
  CHECK(host.starved_ns == 10 + 50 + 50 + 40 + 70);
  CHECK(host.starved_ns == stage(run, "decode_step").budget->launch_starved_ns);
  CHECK(host.latency_ns == 10 + 10 + 10 + 10);  // all but the first begin 10 after their calls
  REQUIRE(host.late.size() == 5);
  CHECK(host.late[0].starved_ns == 70);  // the longest first
  CHECK(host.late[0].latency_ns == 10);
  CHECK(late(host, CallKind::kNone, CallKind::kGraphLaunch)->starved_ns == 10);
  CHECK(late(host, CallKind::kGraphLaunch, CallKind::kKernelLaunch)->starved_ns == 50);
  CHECK(late(host, CallKind::kWait, CallKind::kCopy)->starved_ns == 50);
  CHECK(late(host, CallKind::kCopy, CallKind::kGraphLaunch)->starved_ns == 40);
  const auto* graphs = late(host, CallKind::kGraphLaunch, CallKind::kGraphLaunch);
  REQUIRE(graphs);
  CHECK(graphs->count == 1);
  CHECK(graphs->longest_ns == 80);
  CHECK(graphs->longest_at_ns == 400);
}

TEST_CASE("a launch whose call began in time is not late") {
  TraceBuilder b;
  b.stage("decode_step", 0, 300);
  b.launch(0, 0, 100);
  b.launch(90, 110, 40);    // launched before the GPU went idle
  b.launch(150, 190, 100);  // as it went idle
  const auto run = b.run();
  const auto& host = waits_of(run, "decode_step");
  CHECK(host.starved_ns == 0);
  CHECK(host.latency_ns == 0);
}

TEST_CASE("the longest of several late launches says when it began") {
  TraceBuilder b;
  b.stage("decode_step", 0, 400);
  b.launch(0, 0, 100);
  b.launch(110, 110, 90);  // 100..110
  b.launch(240, 240, 60);  // 200..240
  b.launch(320, 320, 80);  // 300..320
  const auto run = b.run();
  const auto& host = waits_of(run, "decode_step");
  REQUIRE(host.late.size() == 1);
  CHECK(host.late[0].count == 3);
  CHECK(host.late[0].starved_ns == 70);
  CHECK(host.late[0].longest_ns == 40);
  CHECK(host.late[0].longest_at_ns == 200);
}

TEST_CASE("a wait that is all latency counts too") {
  TraceBuilder b;
  b.stage("decode_step", 0, 300);
  b.launch(0, 0, 100);
  b.launch(101, 190, 100);
  const auto run = b.run();
  const auto& host = waits_of(run, "decode_step");
  CHECK(host.starved_ns == 1);
  CHECK(host.latency_ns == 89);
  REQUIRE(host.late.size() == 1);
  CHECK(host.late[0].longest_ns == 90);
  CHECK(host.outside_calls_ns == 1);
}

TEST_CASE("starved time is told by the calls in it, and the program's own code is the rest") {
  TraceBuilder b;
  b.stage("decode_step", 0, 1000);
  b.launch(0, 0, 100);
  other_call(b, 90, 120, "cudaMalloc");          // 100..120 of it
  b.call(150, 0, "cudaStreamWaitEvent", 10);     // neither launches nor makes the thread wait
  other_call(b, 152, 158, "cuStreamWaitEvent");  // inside the one before: counts for that
  b.wait(180, 200);                              // blocked, not starved
  other_call(b, 240, 330, "cudaMalloc");         // until the launch
  b.launch(300, 320, 100);                       // 100..300 starved but 20
  const auto run = b.run();
  const auto& host = waits_of(run, "decode_step");
  CHECK(host.starved_ns == 180);
  REQUIRE(host.calls.size() == 2);
  CHECK(host.calls[0].name == "cudaMalloc");
  CHECK(host.calls[0].count == 2);
  CHECK(host.calls[0].time_ns == 20 + 60);
  CHECK(host.calls[1].name == "cudaStreamWaitEvent");
  CHECK(host.calls[1].time_ns == 10);
  CHECK(host.outside_calls_ns == 180 - 80 - 10);
  REQUIRE(host.late.size() == 1);
  CHECK(host.late[0].before == CallKind::kWait);  // an event that the stream waits for does not count
}

TEST_CASE("calls of other threads and of other times are not the launching thread's") {
  TraceBuilder b;
  b.stage("decode_step", 0, 500);
  b.launch(0, 0, 100);
  other_call(b, 20, 60, "cudaFree");         // while the GPU worked
  other_call(b, 110, 190, "cudaMalloc", 1);  // another thread
  b.launch(200, 200, 100);
  const auto run = b.run();
  const auto& host = waits_of(run, "decode_step");
  CHECK(host.starved_ns == 100);
  CHECK(host.calls.empty());
  CHECK(host.outside_calls_ns == 100);
}

TEST_CASE("what another thread launches late is told by its own calls") {
  TraceBuilder b;
  b.stage("decode_step", 0, 500);
  b.launch(0, 0, 100);
  b.wait(120, 140);  // of the stage's thread: blocked
  other_call(b, 150, 170, "cudaMalloc", 1);
  b.kernel("k", 210, 50, b.call(200, 1, "cudaLaunchKernel", 2));
  const auto run = b.run();
  const auto& host = waits_of(run, "decode_step");
  CHECK(host.starved_ns == 80);
  REQUIRE(host.calls.size() == 1);
  CHECK(host.calls[0].time_ns == 20);
  CHECK(host.outside_calls_ns == 60);
  REQUIRE(host.late.size() == 1);
  CHECK(host.late[0].before == CallKind::kNone);
}

TEST_CASE("a runtime call around the launch is not the call before") {
  TraceBuilder b;
  b.stage("decode_step", 0, 500);
  b.launch(0, 0, 100);
  b.call(195, 0, "cudaGraphLaunch", 20);
  b.kernel("g", 210, 50, b.call(200, 0, "cuGraphLaunch", 10));
  const auto run = b.run();
  const auto& host = waits_of(run, "decode_step");
  REQUIRE(host.late.size() == 1);
  CHECK(host.late[0].before == CallKind::kKernelLaunch);
  CHECK(host.late[0].launch == CallKind::kGraphLaunch);
}

TEST_CASE("late launches of several GPUs add up") {
  TraceBuilder b;
  b.stage("decode_step", 0, 100);
  b.kernel("k", 30, 70, b.call(20), 0);
  b.kernel("k", 60, 40, b.call(50), 1);
  const auto run = b.run();
  const auto& host = waits_of(run, "decode_step");
  CHECK(host.starved_ns == 20 + 50);
  REQUIRE(host.late.size() == 2);
  CHECK(host.late[0].before == CallKind::kKernelLaunch);  // the second GPU's first launch comes after the first GPU's
  CHECK(host.late[0].starved_ns == 50);
}
