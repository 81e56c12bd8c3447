#include "analysis/account/gpu_mean.h"

#include <vector>

#include "tests/catch.h"
#include "tests/unit/analysis/trace_builder.h"

using nl::Budget;
using nl::Collective;

namespace {

constexpr const char* kAllReduce = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096>)";

// Two ranks with a stage each. The second computes longer, comes to each all-reduce 5 ns later and ends it with the first.
struct TwoRanks : TraceBuilder {
  std::uint32_t other_thread = 0, other_queue = 0;
  TwoRanks() {
    const auto other = process();
    other_thread = thread(other);
    other_queue = queue(other, 1, 7);
    stage("prefill", 0, 100, 0);
    stage("prefill", 0, 100, other_thread);
    for (const nl::Ns at : {0, 40}) {
      launch(at, at + 10, 10, 0, 0);
      launch(at, at + 10, 15, other_thread, other_queue);
      kernel(kAllReduce, at + 20, 10, call(at + 1, 0), 0);
      kernel(kAllReduce, at + 25, 5, call(at + 1, other_thread), other_queue);
    }
  }
};

}  // namespace

TEST_CASE("a mean of budgets closes, and no bin is more than a nanosecond off") {
  const std::vector<Budget> three = {{10, 7, 0, 1, 0, 1, 0, 0, 0, 1}, {10, 0, 5, 1, 1, 1, 1, 1, 0, 0}, {10, 1, 1, 1, 1, 1, 1, 1, 0, 3}};
  const Budget mean = nl::analysis::mean_budget(three);
  CHECK(mean.wall_ns == 10);
  CHECK(mean.sum_ns() == 10);
  CHECK(mean.gpu_compute_ns == 2);    // of 8/3
  CHECK(mean.communication_ns == 2);  // of 4/3
  CHECK(mean.exposed_copy_ns == 2);
  CHECK(mean.queue_wait_ns == 1);
  CHECK(nl::analysis::mean_budget({}).wall_ns == 0);
}

TEST_CASE("a rank that is always late is named, and waiting for it is told from the transfer") {
  const nl::Run run = TwoRanks().run_all();
  const auto& prefill = stage(run, "prefill");
  REQUIRE(prefill.communication.size() == 2);
  const auto &first = prefill.communication[0], &second = prefill.communication[1];
  CHECK(first.kind == Collective::kAllReduce);
  CHECK(first.count == 2);
  CHECK(first.exposed_ns == 20);
  CHECK(first.late_peer_ns == 10);
  CHECK(first.transfer_ns == 10);
  CHECK(first.last_arrivals == 0);
  CHECK(second.device == 1);
  CHECK(second.pid == 101);
  CHECK(second.late_peer_ns == 0);
  CHECK(second.transfer_ns == 10);
  CHECK(second.last_arrivals == 2);
  CHECK_FALSE(second.bytes);
  REQUIRE(prefill.gpu_spread);
  CHECK(prefill.gpu_spread->slowest_device == 1);
  CHECK(prefill.gpu_spread->slowest_by == nl::SlowestBy::kArrival);
  CHECK(prefill.gpu_spread->slowest_last_share == 1.0);
  CHECK(prefill.gpu_spread->compute_spread == Approx(0.2));  // 30 against a mean of 25
  CHECK(prefill.budget->communication_ns == 30);
  CHECK(run.communication.size() == 2);
  CHECK(run.coverage.devices[0].communication_ns == 20);
}

TEST_CASE("ranks whose collectives differ in number, or do not meet, are not paired") {
  TwoRanks more;
  more.kernel(kAllReduce, 80, 5, more.call(70, 0), 0);
  const nl::Run of_more = more.run_all();
  for (const auto& each : stage(of_more, "prefill").communication) CHECK_FALSE(each.late_peer_ns);
  TwoRanks apart;
  apart.kernel(kAllReduce, 80, 5, apart.call(70, 0), 0);
  apart.kernel(kAllReduce, 86, 5, apart.call(70, apart.other_thread), apart.other_queue);
  const nl::Run of_apart = apart.run_all();
  for (const auto& each : stage(of_apart, "prefill").communication) {
    CHECK(each.count == 3);
    CHECK_FALSE(each.late_peer_ns);
    CHECK_FALSE(each.transfer_ns);
    CHECK_FALSE(each.last_arrivals);
  }
}

TEST_CASE("communication that a kernel hides is computing, and peer copies have bytes") {
  TraceBuilder b;
  b.stage("prefill", 0, 100);
  b.launch(0, 10, 30);
  b.kernel(kAllReduce, 20, 40, b.call(2), 0);
  b.copy(nl::MemOpKind::kPeerToPeer, 50, 70, b.call(4), 0).bytes = 4000;
  b.copy(nl::MemOpKind::kHostToDevice, 65, 80, b.call(6), 0);
  const nl::Run run = b.run_all();
  const auto& prefill = stage(run, "prefill");
  CHECK(prefill.budget->gpu_compute_ns == 30);
  CHECK(prefill.budget->communication_ns == 30);  // 40 to 70
  CHECK(prefill.budget->exposed_copy_ns == 10);
  CHECK(prefill.budget->sum_ns() == 100);
  CHECK(prefill.devices[0].overlapped_communication_ns == 20);
  REQUIRE(prefill.communication.size() == 2);
  CHECK(prefill.communication[0].exposed_ns == 20);
  CHECK(prefill.communication[0].time_ns == 40);
  CHECK(prefill.communication[1].kind == Collective::kPeerCopy);
  CHECK(prefill.communication[1].bytes == 4000);
  CHECK(*prefill.communication[1].bytes_per_s == Approx(2e11));
  CHECK_FALSE(prefill.gpu_spread);
  CHECK(prefill.activity->communication_kernels == 1);
  CHECK(prefill.activity->peer_bytes == 4000);
  CHECK(prefill.activity->d2d_copies == 0);
}

TEST_CASE("the rank that comes last most often is named, with its share of all arrivals") {
  TwoRanks ranks;
  ranks.kernel(kAllReduce, 88, 7, ranks.call(70, 0), 0);
  ranks.kernel(kAllReduce, 80, 15, ranks.call(70, ranks.other_thread), ranks.other_queue);
  const nl::Run run = ranks.run_all();
  const auto& spread = *stage(run, "prefill").gpu_spread;
  CHECK(spread.slowest_device == 1);
  CHECK(spread.slowest_pid == 101);
  CHECK(*spread.slowest_last_share == Approx(2 / 3.0));
}

TEST_CASE("without collectives the rank that computes the most is the slowest") {
  TraceBuilder b;
  const auto other = b.process();
  const auto thread = b.thread(other);
  b.stage("prefill", 0, 100, 0);
  b.stage("prefill", 0, 100, thread);
  b.launch(0, 10, 40, 0, 1);  // the first process works on GPU 1, the second on GPU 0
  const auto queue = b.queue(other, 0, 7);
  b.launch(0, 10, 20, thread, queue);
  nl::Run run = b.run_all();
  auto prefill = stage(run, "prefill");
  REQUIRE(prefill.gpu_spread);
  CHECK(prefill.gpu_spread->slowest_device == 1);
  CHECK(prefill.gpu_spread->slowest_by == nl::SlowestBy::kCompute);
  CHECK_FALSE(prefill.gpu_spread->slowest_last_share);
  // GPUs are listed by their numbers, wherever they are listed.
  REQUIRE(prefill.devices.size() == 2);
  CHECK(prefill.devices[0].device == 0);
  CHECK(prefill.devices[0].pid == 101);
  CHECK(prefill.devices[1].device == 1);
  REQUIRE(run.phases.devices.size() == 2);
  CHECK(run.phases.devices[0].device == 0);
  REQUIRE(run.coverage.devices.size() == 2);
  CHECK(run.coverage.devices[0].device == 0);
  CHECK(run.coverage.devices[0].busy_ns == 20);
  CHECK(run.coverage.devices[1].pid == 100);
  b.kernel(kAllReduce, 60, 10, b.call(5, 0), 1);
  b.kernel(kAllReduce, 60, 10, b.call(5, thread), queue);
  run = b.run_all();
  prefill = stage(run, "prefill");
  REQUIRE(prefill.communication.size() == 2);
  CHECK(prefill.communication[0].device == 0);
  CHECK(run.communication.at(0).device == 0);
}
