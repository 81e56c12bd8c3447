#include "analysis/account/budget.h"

#include <string>

#include "parsers/nsys/sqlite.h"
#include "tests/catch.h"
#include "tests/unit/analysis/trace_builder.h"

namespace {

using nl::Ns;
using Kind = nl::MemOpKind;

const nl::Phase* phase(const nl::Run& run, const std::string& name) {
  for (const auto& each : run.phases.phases)
    if (each.name == name) return &each;
  return nullptr;
}

}  // namespace

TEST_CASE("each bin of a budget, worked out by hand") {
  TraceBuilder b;
  b.stage("prefill", 0, 100);
  b.launch(5, 10, 10);                              // 0..5 starved, 5..10 launch latency, 10..20 compute
  b.launch(12, 25, 5);                              // 20..25 queued: launched while the GPU was busy
  b.copy(Kind::kHostToDevice, 28, 40, b.call(22));  // 30..40 exposed
  b.kernel("k", 45, 5, nl::kNone);                  // 40..45 residual
  b.wait(52, 58);                                   // 52..58 blocked
  b.launch(60, 63, 7);                              // 50..52, 58..60 starved, 60..63 launch latency
  b.launch(99, 110, 5);                             // 70..99 starved, 99..100 latency: launched inside, runs outside
  const auto run = b.run();
  const auto& prefill = stage(run, "prefill");
  REQUIRE(prefill.budget);
  CHECK(prefill.budget->wall_ns == 100);
  CHECK(prefill.budget->gpu_compute_ns == 10 + 5 + 5 + 7);
  CHECK(prefill.budget->exposed_copy_ns == 10);
  CHECK(prefill.budget->queue_wait_ns == 5);
  CHECK(prefill.budget->residual_ns == 5);
  CHECK(prefill.budget->sync_blocked_ns == 6);
  CHECK(prefill.budget->launch_starved_ns == 5 + 2 + 2 + 29);
  CHECK(prefill.budget->launch_latency_ns == 5 + 3 + 1);
  CHECK(prefill.budget->other_host_ns == 0);
  CHECK(prefill.activity->longest_gap_ns == 30);
  CHECK(prefill.activity->longest_gap_at_ns == 70);
  REQUIRE(run.phases.phases.size() == 1);
  CHECK(run.phases.phases[0].budget->launch_starved_ns == prefill.budget->launch_starved_ns);
}

TEST_CASE("after its last launch a window's idle time is other host work") {
  TraceBuilder b;
  b.stage("prefill", 0, 100);
  b.launch(0, 10, 10);
  b.wait(15, 30);
  b.launch(100, 120, 5);  // by whatever comes next
  const auto run = b.run();
  const auto& budget = *stage(run, "prefill").budget;
  CHECK(budget.launch_starved_ns == 0);
  CHECK(budget.launch_latency_ns == 10);  // its call began with the window
  CHECK(budget.gpu_compute_ns == 10);
  CHECK(budget.sync_blocked_ns == 10);  // 20..30
  CHECK(budget.other_host_ns == 70);    // 30..100
}

TEST_CASE("from the start of its launching call on, work that is late is launch latency") {
  TraceBuilder b;
  b.stage("prefill", 0, 100);
  b.launch(2, 2, 8);
  b.kernel("k", 40, 10, b.call(30, 0, "cudaLaunchKernel", 5));           // 10..30 starved, 30..40 latency
  b.wait(52, 70);                                                        // waits for what was just launched
  b.kernel("k", 62, 8, b.call(51, 1, "cudaLaunchKernel", 1));            // 50..51 starved, 51..62 latency although a thread waits
  b.copy(Kind::kDeviceToHost, 85, 90, b.call(80, 0, "cudaMemcpy", 12));  // 70..80 starved, 80..85 its own latency
  const auto run = b.run();
  const auto& budget = *stage(run, "prefill").budget;
  CHECK(budget.launch_starved_ns == 2 + 20 + 1 + 10);
  CHECK(budget.launch_latency_ns == 10 + 11 + 5);
  CHECK(budget.sync_blocked_ns == 2);  // 90..92: the copy's call
  CHECK(budget.other_host_ns == 8);
  CHECK(budget.sum_ns() == 100);
}

TEST_CASE("a call that began before the window leaves it launch latency only") {
  TraceBuilder b;
  b.stage("prefill", 100, 200);
  b.launch(10, 12, 8);
  b.launch(90, 110, 10);   // 100..110
  b.launch(150, 250, 10);  // 120..150 starved, 150..200 latency
  const auto run = b.run();
  const auto& budget = *stage(run, "prefill").budget;
  CHECK(budget.launch_latency_ns == 10 + 50);
  CHECK(budget.launch_starved_ns == 30);
  CHECK(budget.other_host_ns == 0);
}

TEST_CASE("a blocking copy blocks, waiting on the GPU's side does not, nor does another thread") {
  TraceBuilder b;
  b.stage("prefill", 0, 100);
  b.wait(10, 20, 0, "cudaMemcpy");
  b.wait(30, 40, 0, "cudaStreamWaitEvent");
  b.wait(45, 46, 0, "cudaMemcpyAsync");
  b.wait(50, 60, 1, "cudaDeviceSynchronize");
  b.wait(70, 80, 0, "cuCtxSynchronize");
  b.wait(72, 78, 0, "cuEventSynchronize");  // inside the other one: once
  const auto run = b.run();
  CHECK(stage(run, "prefill").budget->sync_blocked_ns == 10 + 10);
  CHECK(stage(run, "prefill").budget->other_host_ns == 80);
  CHECK(stage(run, "prefill").activity->sync_calls == 3);
  CHECK(stage(run, "prefill").activity->sync_call_ns == 10 + 10 + 6);
}

TEST_CASE("graphs without their kernels count as compute") {
  TraceBuilder b;
  b.stage("decode_all", 0, 50);
  b.graph(10, 40, b.call(5, 0, "cudaGraphLaunch"));
  const auto run = b.run();
  CHECK(stage(run, "decode").budget->gpu_compute_ns == 30);
  CHECK(stage(run, "decode").activity->graph_launches == 1);
  CHECK(stage(run, "decode").activity->graph_runs == 1);
  CHECK(stage(run, "decode").activity->kernels == 0);
}

TEST_CASE("work of another window, time or staged thread is foreign") {
  TraceBuilder b;
  b.stage("prefill", 100, 200);
  b.launch(10, 90, 30);       // launched before, still running: 100..120
  b.launch(110, 130, 10);     // its own
  b.launch(120, 150, 10, 1);  // by another thread
  SECTION("a thread without stages works for the window") {
    const auto run = b.run();
    CHECK(stage(run, "prefill").budget->gpu_compute_ns == 40);
    CHECK(*stage(run, "prefill").foreign_gpu_ns == 20);
    CHECK(*stage(run, "prefill").kernel_calls == 2);
    CHECK(stage(run, "prefill").activity->kernels == 2);  // that start in it
  }
  SECTION("a thread with stages of its own does not") {
    b.stage("prefill", 500, 600, 1);
    const auto run = b.run_all();
    CHECK(stage(run, "prefill").budget->gpu_compute_ns == 40);
    CHECK(*stage(run, "prefill").foreign_gpu_ns == 30);
    CHECK(*stage(run, "prefill").kernel_calls == 1);
    CHECK(stage(run, "prefill").activity->kernels == 2);
  }
}

TEST_CASE("phases: stages, mixed and idle add up to the span") {
  TraceBuilder b;
  b.stage("request", 0, 400);  // around both: names what neither does
  b.stage("prefill", 10, 100);
  b.stage("decode_all", 150, 400);
  b.stage("decode_step", 150, 200);
  b.stage("vision", 300, 350, 1);  // another thread
  b.stage("prefill", 450, 500);
  b.launch(20, 30, 10);
  const auto run = b.run_all();
  REQUIRE(phase(run, "request"));
  CHECK(phase(run, "request")->wall_ns == 10 + 50);
  CHECK(phase(run, "prefill")->wall_ns == 90 + 50);
  CHECK(phase(run, "decode")->wall_ns == 250 - 50);
  CHECK(phase(run, "mixed")->wall_ns == 50);
  CHECK(phase(run, "idle")->wall_ns == 50);
  CHECK(phase(run, "decode_step") == nullptr);
  CHECK(phase(run, "vision") == nullptr);
  CHECK(run.phases.span_ns == 500);
}

TEST_CASE("GPU time without a range, and ranges without GPU time") {
  TraceBuilder b;
  b.stage("prefill", 0, 100);
  b.stage("tokenise", 200, 250);
  b.launch(10, 20, 30);    // inside
  b.launch(110, 120, 10);  // in no range
  const auto run = b.run_all();
  CHECK(*run.phases.gpu_without_range_share == Approx(10.0 / 40));
  CHECK(*run.phases.ranges_without_gpu_share == Approx(50.0 / 150));
}

TEST_CASE("what happens in a stage is counted where it starts") {
  TraceBuilder b;
  b.stage("decode_all", 0, 1'000'000);
  const char* map = "void at::native::vectorized_elementwise_kernel<(int)4, at::native::CUDAFunctor_add<float>>(int, T2)";
  for (int i = 0; i < 3; ++i) b.kernel(map, 1000 * i, 500, b.call(1000 * i));
  b.kernel("nvjet_sm90_tst_64x8", 4000, 20'000, b.call(3500));
  b.kernel(map, 30'000, 500, b.call(29'000));
  b.kernel(map, 30'100, 500, b.call(29'100), 1);  // another queue
  b.kernel("void at::native::<unnamed>::CatArrayBatchedCopy<float>(float *)", 40'000, 700, b.call(39'000)).in_graph = 1;
  b.copy(Kind::kHostToDevice, 50'000, 50'100, b.call(49'000, 0, "cudaMemcpyAsync")).src_kind = 1;
  b.copy(Kind::kDeviceToHost, 60'000, 60'050, b.call(59'000, 0, "cudaMemcpy")).dst_kind = 2;
  b.copy(Kind::kMemset, 70'000, 70'010, b.call(69'000, 0, "cudaMemsetAsync"));
  b.launch(1'100'000, 1'100'010, 5);  // after the window
  const auto activity = *stage(b.run(), "decode").activity;
  CHECK(activity.launches == 10);
  CHECK(activity.kernels == 7);
  CHECK(activity.graph_kernels == 1);
  CHECK(activity.small_kernels == 6);
  CHECK(activity.small_kernel_ns == 5 * 500 + 700);
  CHECK(activity.elementwise_kernels == 5);
  CHECK(activity.longest_elementwise_chain == 3);
  CHECK(activity.gemm_ns == 20'000);
  CHECK(activity.copy_kernel_ns == 700);
  CHECK(activity.cache_copy_kernels == 1);
  CHECK(activity.h2d_copies == 1);
  CHECK(activity.h2d_bytes == 64);
  CHECK(activity.d2h_ns == 50);
  CHECK(activity.memsets == 1);
  CHECK(activity.pageable_copies == 1);
  CHECK(activity.pageable_ns == 100);
  CHECK(activity.sync_calls == 1);  // cudaMemcpy
  CHECK(activity.streams_used == 2);
}

TEST_CASE("the concatenation of a rotary embedding is no copy of the KV cache") {
  const char* neg =
      "void at::native::elementwise_kernel<(int)128, (int)4, void at::native::gpu_kernel_impl_nocast<at::native::neg_kernel_cuda"
      "(at::TensorIteratorBase &)::[lambda() (instance 2)]>(at::TensorIteratorBase &, const T1 &)::[lambda(int) (instance 1)]>(int, T3)";
  const char* add = "void at::native::vectorized_elementwise_kernel<(int)8, at::native::CUDAFunctor_add<c10::BFloat16>>(int, T2, T3)";
  const char* cat = "void at::native::<unnamed>::CatArrayBatchedCopy<at::native::<unnamed>::OpaqueType<(unsigned int)2>>(T1 *)";
  TraceBuilder b;
  b.stage("decode_all", 0, 1000);
  Ns at = 10;
  const auto run_kernel = [&](const char* name, std::uint64_t duration, std::uint32_t queue = 0) {
    b.kernel(name, at, duration, b.call(at - 5), queue);
    at += 20;
  };
  run_kernel(neg, 2);
  run_kernel(cat, 3);  // rotate_half(q)
  run_kernel(neg, 2);
  run_kernel(add, 2, 1);  // another stream
  run_kernel(cat, 4);     // rotate_half(k)
  run_kernel(add, 2);
  run_kernel(cat, 5);  // keys
  run_kernel(cat, 6);  // values
  const auto run = b.run();
  const auto& activity = *stage(run, "decode").activity;
  CHECK(activity.copy_kernels == 4);
  CHECK(activity.copy_kernel_ns == 3 + 4 + 5 + 6);
  CHECK(activity.cache_copy_kernels == 2);
  CHECK(activity.cache_copy_ns == 5 + 6);
}

TEST_CASE("the budget of a real capture closes, and decode waits for launches") {
  const auto trace = nl::parsers::read_nsys_sqlite(NL_FIXTURES "/h200-llama/nsys.sqlite");
  nl::Run run;
  nl::analysis::summarise(trace, {}, run);
  for (const auto& each : run.stages) {
    INFO(each.name);
    CHECK(each.budget->wall_ns == each.wall.total_ns);
    CHECK(each.budget->sum_ns() == each.budget->wall_ns);
    CHECK(each.budget->residual_ns == 0);
    CHECK(each.devices.size() == 1);
    CHECK(each.devices[0].busy_ns == each.budget->gpu_compute_ns + each.budget->exposed_copy_ns);
  }
  const auto& decode = *stage(run, "decode").budget;
  // Eager PyTorch, batch 1: 187 kernels of a few microseconds a step, launched one by one.
  CHECK(decode.launch_starved_ns + decode.launch_latency_ns > decode.wall_ns / 2);
  // nsys' own figures: a launch takes 5 µs until its kernel starts, of 22 µs from launch to launch.
  CHECK(decode.launch_latency_ns > decode.launch_starved_ns / 10);
  CHECK(stage(run, "decode").activity->gemm_kernels > 0);
  CHECK(stage(run, "decode").activity->attention_kernels == 8 * 4);  // steps × layers
  // Of five concatenations a layer and one a step: keys and values, and the angles of the step. The rotary ones do not count.
  CHECK(stage(run, "decode").activity->cache_copy_kernels == 8 * (2 * 4 + 1));
  // 25.5 of the GPU's 33 ms are the upload of the weights, before the first range.
  CHECK(*run.phases.gpu_without_range_share == Approx(0.7756).margin(0.0001));
  CHECK(*run.phases.ranges_without_gpu_share == 0);
}
