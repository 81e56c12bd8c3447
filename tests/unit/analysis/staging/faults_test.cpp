#include <string>

#include "tests/catch.h"
#include "tests/unit/analysis/trace_builder.h"

// What may be wrong with a trace: nothing crashes, budgets close, and nothing reads as better than it is.
namespace {

using nl::Ns;

Ns phase_wall(const nl::Run& run, const std::string& name) {
  for (const auto& each : run.phases.phases)
    if (each.name == name) return each.wall_ns;
  return 0;
}

void check_closed(const nl::Run& run) {
  for (const auto& each : run.stages) {
    INFO(each.name);
    REQUIRE(each.budget);
    CHECK(each.budget->sum_ns() == each.budget->wall_ns);
    CHECK(each.budget->wall_ns == each.wall.total_ns);
  }
  Ns span = 0;
  for (const auto& each : run.phases.phases) {
    CHECK(each.budget->sum_ns() == each.wall_ns);
    span += each.wall_ns;
  }
  CHECK(span == run.phases.span_ns);
}

}  // namespace

TEST_CASE("an empty trace") {
  nl::Run run;
  nl::analysis::summarise({}, {}, run);
  CHECK(run.stages.empty());
  CHECK(run.phases.phases.empty());
  CHECK(run.phases.span_ns == 0);
  CHECK_FALSE(run.phases.gpu_without_range_share);
  CHECK(run.iterations.count == 0);
  CHECK_FALSE(run.iterations.rule.empty());
  CHECK_FALSE(run.latency.ttft);
  CHECK(run.latency.notes.size() == 1);
  CHECK_FALSE(run.timeline);
}

TEST_CASE("kernels and no ranges") {
  TraceBuilder b;
  b.launch(0, 10, 10);
  b.launch(20, 30, 10);
  const auto run = b.run();
  CHECK(run.stages.empty());
  CHECK(run.phases.span_ns == 0);
  CHECK(*run.phases.gpu_without_range_share == 1);
  CHECK_FALSE(run.phases.ranges_without_gpu_share);
  REQUIRE(run.timeline);
  CHECK(run.timeline->what.find("no closed stage ranges") != std::string::npos);
  CHECK(run.timeline->start_ns == 10);
  CHECK(run.timeline->end_ns == 40);
}

TEST_CASE("a decode that was never closed: its steps are known, its end is not") {
  TraceBuilder b;
  b.range("LLM", "decode_all", 0, 1000, 0, nl::RangeStyle::kPushPop, true);
  b.stage("decode_step", 10, 50);
  b.stage("decode_step", 60, 90);
  b.launch(20, 30, 10);
  b.launch(500, 510, 10);
  const auto run = b.run();
  CHECK(stage(run, "decode").open_ranges == 1);
  CHECK(stage(run, "decode").derived);
  CHECK(stage(run, "decode").wall.total_ns == 80);
  CHECK(stage(run, "decode_step").wall.count == 2);
  CHECK(*run.phases.gpu_without_range_share == 0);  // the open range is around it
  check_closed(run);
}

TEST_CASE("only an open range: no window, no budget that could be read as one") {
  TraceBuilder b;
  b.range("LLM", "prefill", 0, 1000, 0, nl::RangeStyle::kPushPop, true);
  b.launch(20, 30, 10);
  const auto run = b.run();
  CHECK(stage(run, "prefill").wall.count == 0);
  CHECK(stage(run, "prefill").open_ranges == 1);
  CHECK(stage(run, "prefill").budget->wall_ns == 0);
  CHECK(run.phases.span_ns == 0);
  CHECK(run.iterations.count == 0);
}

TEST_CASE("requests that overlap on one thread, and one that another thread ends") {
  TraceBuilder b;
  b.range("LLM", "prefill", 0, 100, 0, nl::RangeStyle::kStartEnd);
  b.range("LLM", "decode_all", 80, 200, 0, nl::RangeStyle::kStartEnd);
  b.range("LLM", "decode_all", 150, 300, 0, nl::RangeStyle::kStartEnd).end_thread = 1;
  b.launch(10, 20, 200);
  const auto run = b.run_all();
  CHECK(stage(run, "decode").wall.count == 2);
  CHECK(stage(run, "decode").wall.total_ns == 120 + 150);
  CHECK(phase_wall(run, "prefill") == 80);
  CHECK(phase_wall(run, "mixed") == 20);
  CHECK(phase_wall(run, "decode") == 200);
  check_closed(run);
}

TEST_CASE("stages of two threads at once are mixed; the same stage on both is not") {
  TraceBuilder b;
  b.stage("prefill", 0, 100, 0);
  b.stage("decode_all", 50, 150, 1);
  b.stage("decode_all", 120, 200, 0);
  b.launch(10, 20, 30);
  const auto run = b.run_all();
  CHECK(phase_wall(run, "prefill") == 50);
  CHECK(phase_wall(run, "mixed") == 50);
  CHECK(phase_wall(run, "decode") == 100);
  check_closed(run);
}

TEST_CASE("clocks that step back") {
  TraceBuilder b;
  b.stage("prefill", 100, 90);
  b.stage("decode_all", 200, 300);
  b.launch(210, 250, 10);
  b.launch(205, 220, 10);                                       // rows out of order
  b.copy(nl::MemOpKind::kHostToDevice, 270, 260, b.call(265));  // ends before it starts
  const auto run = b.run_all();
  CHECK(stage(run, "prefill").wall.total_ns == 0);
  CHECK(stage(run, "decode").budget->gpu_compute_ns == 20);
  CHECK(stage(run, "decode").budget->exposed_copy_ns == 0);
  CHECK(stage(run, "decode").activity->h2d_ns == 0);
  CHECK(run.import_stats.notes == std::vector<nl::Remark>{{nl::Code::kBackwardRanges, {"1"}}});
  check_closed(run);
}

TEST_CASE("a kernel that starts before its launch was launched as it started") {
  TraceBuilder b;
  b.stage("prefill", 0, 100);
  b.launch(0, 5, 5);
  b.launch(60, 40, 10);   // its call begins 20 ns after it
  b.launch(140, 110, 5);  // outside, and so is its call
  const auto run = b.run();
  const auto& budget = *stage(run, "prefill").budget;
  CHECK(budget.launch_starved_ns == 30);
  CHECK(budget.launch_latency_ns == 5);
  CHECK(budget.gpu_compute_ns == 15);
  CHECK(budget.other_host_ns == 50);
  CHECK(budget.queue_wait_ns == 0);
  check_closed(run);
}

TEST_CASE("a stage of no length") {
  TraceBuilder b;
  b.stage("prefill", 50, 50);
  b.launch(10, 20, 60);
  nl::analysis::SummaryOptions options;
  options.tokens = {2, 16, 8};
  const auto run = b.run(options);
  CHECK(stage(run, "prefill").wall.count == 1);
  CHECK(stage(run, "prefill").budget->wall_ns == 0);
  CHECK(*stage(run, "prefill").tokens_per_window == 32);
  CHECK_FALSE(stage(run, "prefill").tokens_per_s);
  CHECK_FALSE(run.phases.ranges_without_gpu_share);
  CHECK(run.phases.span_ns == 0);
  check_closed(run);
}

TEST_CASE("two processes do not mix") {
  TraceBuilder b;
  const auto other = b.process();
  const auto other_thread = b.thread(other);
  const auto other_queue = b.queue(other, 0, 7);
  b.stage("prefill", 0, 100, 0);
  b.stage("decode_all", 0, 100, other_thread);
  b.launch(5, 10, 20, 0, 0);
  b.wait(40, 60, other_thread);
  b.launch(61, 70, 30, other_thread, other_queue);
  const auto run = b.run();
  CHECK(stage(run, "prefill").budget->gpu_compute_ns == 20);
  CHECK(stage(run, "prefill").budget->other_host_ns == 70);
  CHECK(stage(run, "decode").budget->gpu_compute_ns == 30);
  CHECK(stage(run, "decode").budget->sync_blocked_ns == 20);
  CHECK(stage(run, "decode").activity->kernels == 1);
  CHECK(run.phases.span_ns == 200);  // of both, added up
  CHECK(phase_wall(run, "mixed") == 0);
  CHECK(run.iterations.count == 2);
  CHECK(run.iterations.list[0].pid != run.iterations.list[1].pid);
  check_closed(run);
}

TEST_CASE("two GPUs of a process: each has a budget of its own, and the stage has their mean") {
  TraceBuilder b;
  b.stage("prefill", 0, 100);
  b.launch(0, 10, 40, 0, 0);
  b.launch(2, 30, 41, 0, 1);
  const auto run = b.run();
  const auto& prefill = stage(run, "prefill");
  CHECK(prefill.budget->wall_ns == 100);
  CHECK(prefill.budget->gpu_compute_ns == 40);  // of 40 and 41
  CHECK(prefill.budget->sum_ns() == 100);
  REQUIRE(prefill.devices.size() == 2);
  CHECK(prefill.devices[0].busy_ns == 40);
  CHECK(prefill.devices[1].busy_ns == 41);
  CHECK(prefill.devices[1].device == 1);
  CHECK(prefill.devices[1].pid == 100);
  CHECK(prefill.devices[0].budget.gpu_compute_ns == 40);
  CHECK(prefill.devices[0].budget.launch_wait_ns() == 10);
  CHECK(prefill.devices[0].budget.other_host_ns == 50);
  CHECK(prefill.devices[1].budget.launch_wait_ns() == 30);
  CHECK(prefill.gpu_busy_ns == 40);
  REQUIRE(prefill.gpu_spread);
  CHECK(prefill.gpu_spread->slowest_device == 1);
  CHECK(prefill.gpu_spread->slowest_by == nl::SlowestBy::kCompute);
  CHECK(run.coverage.gpu_busy_ns == 40);
  CHECK(run.coverage.kernel_sum_ns == 81);
  REQUIRE(run.kernels->size() == 2);
  for (const auto& kernel : *run.kernels) CHECK(kernel.gpu_share == 1);  // of its own GPU
  CHECK(prefill.activity->streams_used == 2);
  check_closed(run);
}

TEST_CASE("two ranks in lockstep: half of each one's time is not a quarter of both") {
  TraceBuilder b;
  const auto other = b.process();
  const auto other_thread = b.thread(other);
  const auto other_queue = b.queue(other, 1, 7);
  b.stage("prefill", 0, 100, 0);
  b.stage("prefill", 0, 100, other_thread);
  b.launch(0, 10, 50, 0, 0);
  b.launch(0, 10, 50, other_thread, other_queue);
  const auto run = b.run_all();
  const auto& prefill = stage(run, "prefill");
  CHECK(prefill.wall.total_ns == 200);
  CHECK(prefill.gpu_busy_ns == 100);  // 50 of each rank's 100
  CHECK(prefill.gpu_sum_ns == 100);
  CHECK(prefill.budget->gpu_compute_ns == 100);
  CHECK(prefill.devices.size() == 2);
  CHECK(prefill.gpu_spread->busy_share_mean == 0.5);
  CHECK_FALSE(prefill.runs_on());
  CHECK(run.coverage.gpu_busy_ns == 50);
  CHECK(run.phases.devices.size() == 2);
  CHECK(run.phases.devices[1].budget.gpu_compute_ns == 50);
  check_closed(run);
}

TEST_CASE("a stage that leaves one of two GPUs alone runs on where the other does") {
  TraceBuilder b;
  b.stage("prefill", 0, 100);
  b.stage("decode_all", 200, 300);
  b.launch(5, 10, 180, 0, 0);
  b.launch(205, 210, 20, 0, 1);
  const auto run = b.run_all();
  CHECK(stage(run, "prefill").runs_on());
  CHECK_FALSE(stage(run, "decode").runs_on());
  CHECK(stage(run, "prefill").devices[1].budget.other_host_ns == 100);
  CHECK(stage(run, "prefill").devices[0].launched_ns == 180);
}

TEST_CASE("every GPU that ran something is listed, also one that the capture does not describe") {
  TraceBuilder b;
  b.trace.devices.resize(1);
  b.trace.devices[0].id = 0;
  b.trace.devices[0].name = "NVIDIA H200";
  b.launch(0, 10, 40, 0, 1);
  const auto run = b.run();
  REQUIRE(run.hardware.gpus.size() == 2);
  CHECK(run.hardware.gpus[1].id == 1);
  CHECK(run.hardware.gpus[1].name.empty());
}

TEST_CASE("a window with no kernels is all host time, not well utilised") {
  TraceBuilder b;
  b.stage("prefill", 0, 100);
  const auto run = b.run();
  const auto& prefill = stage(run, "prefill");
  CHECK(prefill.budget->other_host_ns == 100);
  CHECK(prefill.gpu_busy_ns == 0);
  CHECK(prefill.kernel_calls == 0);
  CHECK(prefill.devices.empty());
  CHECK(*run.phases.ranges_without_gpu_share == 1);
  CHECK_FALSE(run.phases.gpu_without_range_share);  // of no GPU time there is no share
  check_closed(run);
}

TEST_CASE("no GPU data at all: no budget, rather than an empty one") {
  TraceBuilder b;
  b.trace.has_kernel_data = b.trace.has_mem_data = false;
  b.stage("prefill", 0, 100);
  const auto run = b.run();
  CHECK_FALSE(stage(run, "prefill").budget);
  CHECK_FALSE(stage(run, "prefill").activity);
  CHECK_FALSE(run.phases.phases[0].budget);
  CHECK(run.phases.span_ns == 100);
  CHECK_FALSE(run.phases.ranges_without_gpu_share);
}

TEST_CASE("references that lead nowhere") {
  TraceBuilder b;
  b.stage("prefill", 0, 100, nl::kNone);
  b.stage("decode_all", 0, 100, 77);
  b.kernel("k", 10, 20, 4711);                                         // no such call
  b.copy(nl::MemOpKind::kDeviceToHost, 40, 50, nl::kNone, nl::kNone);  // no such queue
  const auto run = b.run();
  CHECK(stage(run, "prefill").budget->gpu_compute_ns == 20);
  CHECK(stage(run, "prefill").budget->residual_ns == 10 + 10);
  check_closed(run);
}
