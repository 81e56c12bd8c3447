#include "analysis/account/activity.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "tests/catch.h"
#include "tests/unit/analysis/trace_builder.h"

using Kind = nl::MemOpKind;

namespace {

nl::StageActivity activity_of_copy(Kind kind, std::uint8_t src_kind, std::uint8_t dst_kind) {
  TraceBuilder b;
  b.stage("prefill", 0, 1000);
  nl::MemOp& op = b.copy(kind, 100, 130, b.call(50));
  op.src_kind = src_kind;
  op.dst_kind = dst_kind;
  return *stage(b.run_all(), "prefill").activity;
}

}  // namespace

TEST_CASE("a copy counts in its own direction only, and memory that is not pinned on the host's side only") {
  for (const Kind kind : {Kind::kHostToDevice, Kind::kDeviceToHost, Kind::kDeviceToDevice, Kind::kPeerToPeer, Kind::kHostToHost,
                          Kind::kMemset, Kind::kOther}) {
    for (const auto& [src, dst] : {std::pair{1, 3}, std::pair{3, 1}, std::pair{2, 2}, std::pair{1, 1}}) {
      CAPTURE(static_cast<int>(kind), src, dst);
      const auto a = activity_of_copy(kind, static_cast<std::uint8_t>(src), static_cast<std::uint8_t>(dst));
      const std::uint64_t up = kind == Kind::kHostToDevice, down = kind == Kind::kDeviceToHost;
      const std::uint64_t across = kind == Kind::kDeviceToDevice, peer = kind == Kind::kPeerToPeer, set = kind == Kind::kMemset;
      const std::uint64_t pageable = (up && src == 1) || (down && dst == 1);
      CHECK(std::tuple(a.h2d_copies, a.h2d_ns, a.h2d_bytes) == std::tuple(up, nl::Ns(30 * up), 64 * up));
      CHECK(std::tuple(a.d2h_copies, a.d2h_ns, a.d2h_bytes) == std::tuple(down, nl::Ns(30 * down), 64 * down));
      CHECK(std::tuple(a.d2d_copies, a.d2d_ns, a.d2d_bytes) == std::tuple(across, nl::Ns(30 * across), 64 * across));
      CHECK(std::tuple(a.peer_copies, a.peer_ns, a.peer_bytes) == std::tuple(peer, nl::Ns(30 * peer), 64 * peer));
      CHECK(std::tuple(a.memsets, a.memset_ns) == std::tuple(set, nl::Ns(30 * set)));
      CHECK(std::tuple(a.pageable_copies, a.pageable_ns) == std::tuple(pageable, nl::Ns(30 * pageable)));
      CHECK(a.streams_used == 1);
    }
  }
}

TEST_CASE("each class of kernels has its own count and time") {
  TraceBuilder b;
  b.stage("prefill", 0, 1000'000);
  const std::pair<const char*, std::uint64_t> kernels[] = {
      {"nvjet_sm90_tst_64x8", 1},
      {"void pytorch_flash::flash_fwd_kernel<int>(int)", 20},
      {"void at::native::vectorized_elementwise_kernel<(int)4, at::native::CUDAFunctor_add<float>>(int, T2)", 300},
      {"void at::native::reduce_kernel<(int)512, (int)1>(int)", 4000},
      {"void vllm::rms_norm_kernel<float>(float *)", 5000},
      {"void at::native::<unnamed>::CatArrayBatchedCopy<float>(float *)", 6000},
      {"something_else", 7000}};
  nl::Ns at = 0;
  for (const auto& [name, duration_ns] : kernels) {
    at += 10'000;
    b.kernel(name, at, duration_ns, b.call(at - 100));
  }
  const auto a = *stage(b.run_all(), "prefill").activity;
  using Pair = std::pair<std::uint64_t, nl::Ns>;
  CHECK(Pair(a.gemm_kernels, a.gemm_ns) == Pair(1, 1));
  CHECK(Pair(a.attention_kernels, a.attention_ns) == Pair(1, 20));
  CHECK(Pair(a.elementwise_kernels, a.elementwise_ns) == Pair(1, 300));
  CHECK(Pair(a.reduce_kernels, a.reduce_ns) == Pair(1, 4000));
  CHECK(Pair(a.norm_kernels, a.norm_ns) == Pair(1, 5000));
  CHECK(Pair(a.copy_kernels, a.copy_kernel_ns) == Pair(1, 6000));
  CHECK(Pair(a.cache_copy_kernels, a.cache_copy_ns) == Pair(1, 6000));
  CHECK(Pair(a.kernels, a.kernel_sum_ns) == Pair(7, 22'321));
}

TEST_CASE("a kernel of ten microseconds is not small") {
  TraceBuilder b;
  b.stage("prefill", 0, 100'000);
  b.launch(10, 100, 9'999);
  b.launch(20, 20'000, 10'000);
  const auto a = *stage(b.run_all(), "prefill").activity;
  CHECK(a.small_kernels == 1);
  CHECK(a.small_kernel_ns == 9'999);
}

TEST_CASE("a chain of elementwise kernels ends with its window, with a copy, and is of one queue") {
  const char* map = "void at::native::vectorized_elementwise_kernel<(int)4, at::native::CUDAFunctor_add<float>>(int, T2)";
  TraceBuilder b;
  b.stage("prefill", 0, 1000);
  b.stage("prefill", 2000, 3000);
  for (const nl::Ns at : {100, 200, 2100}) b.kernel(map, at, 10, b.call(at - 50));
  CHECK(stage(b.run_all(), "prefill").activity->longest_elementwise_chain == 2);
  b.kernel(map, 2300, 10, b.call(2250));
  b.kernel(map, 2400, 10, b.call(2350));
  CHECK(stage(b.run_all(), "prefill").activity->longest_elementwise_chain == 3);
  b.copy(Kind::kDeviceToDevice, 2350, 2360, nl::kNone);
  CHECK(stage(b.run_all(), "prefill").activity->longest_elementwise_chain == 2);
}

TEST_CASE("work at the start of a window is inside, at its end no more; a stage inside itself counts once") {
  TraceBuilder b;
  b.stage("prefill", 100, 200);
  b.stage("prefill", 120, 150);
  for (const nl::Ns at : {99, 100, 130, 199, 200}) b.launch(at, at, 1);
  const auto a = *stage(b.run_all(), "prefill").activity;
  CHECK(a.kernels == 3);
  CHECK(a.launches == 3);
  CHECK(a.launch_call_ns == 6);
}

TEST_CASE("launches of a stage are those of its thread and of threads without stages, waits those of its thread") {
  TraceBuilder b;
  b.stage("prefill", 0, 1000);
  b.call(10, 0, "cudaLaunchKernel", 3);
  b.call(20, 0, "cudaGraphLaunch", 5);
  b.call(30, 0, "cudaStreamSynchronize", 7);
  b.call(40, 1, "cudaLaunchKernel", 11);
  b.call(60, 1, "cudaStreamSynchronize", 13);
  b.graph(50, 60, 1);
  b.graph(70, 80, 1, nl::kNone);
  const auto a = *stage(b.run_all(), "prefill").activity;
  CHECK(a.launches == 3);
  CHECK(a.graph_launches == 1);
  CHECK(a.sync_calls == 1);
  CHECK(a.launch_call_ns == 19);
  CHECK(a.sync_call_ns == 7);
  CHECK(a.graph_runs == 2);
  CHECK(a.streams_used == 1);
}

TEST_CASE("windows of a process's threads are open in the order of time, not of threads") {
  TraceBuilder b;
  b.stage("prefill", 500, 600, 0);
  b.stage("prefill", 900, 950, 0);
  b.stage("prefill", 0, 100, 1);
  b.stage("prefill", 700, 800, 1);
  for (const nl::Ns at : {50, 550, 750, 920}) b.launch(at, at, 1);
  for (const nl::Ns at : {300, 850, 960}) b.launch(at, at, 1);  // in none
  std::sort(b.trace.api_calls.begin(), b.trace.api_calls.end(), [](const auto& x, const auto& y) { return x.start_ns < y.start_ns; });
  CHECK(stage(b.run_all(), "prefill").activity->kernels == 4);
  b.stage("prefill", 540, 560, 1);  // at the same time on the other thread
  CHECK(stage(b.run_all(), "prefill").activity->kernels == 4);
}

TEST_CASE("a copy is of the window in which it starts") {
  TraceBuilder b;
  b.stage("prefill", 100, 200);
  b.copy(Kind::kHostToDevice, 90, 110, nl::kNone);
  b.copy(Kind::kHostToDevice, 190, 230, nl::kNone);
  b.copy(Kind::kHostToDevice, 200, 210, nl::kNone);
  const auto a = *stage(b.run_all(), "prefill").activity;
  CHECK(a.h2d_copies == 1);
  CHECK(a.h2d_ns == 40);
}
