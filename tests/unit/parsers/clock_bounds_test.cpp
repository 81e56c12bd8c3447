#include "parsers/clock_bounds.h"

#include "model/words.h"
#include "tests/catch.h"

using namespace nl;

namespace {

// Launches on one stream of device 0; each takes 100 ns of the CPU.
struct Launches {
  Trace trace;

  Launches() { trace.queues = {{0, 0, 1, 7}}; }

  std::uint32_t call(Ns start_ns) {
    ApiCall call;
    call.start_ns = start_ns;
    call.duration_ns = 100;
    trace.api_calls.push_back(call);
    return static_cast<std::uint32_t>(trace.api_calls.size() - 1);
  }
  void kernel(Ns called_ns, Ns start_ns, Ns end_ns) {
    Kernel kernel;
    kernel.start_ns = start_ns;
    kernel.duration_ns = static_cast<std::uint64_t>(end_ns - start_ns);
    kernel.queue = 0;
    kernel.api = call(called_ns);
    trace.kernels.push_back(kernel);
  }
  void graph(Ns called_ns, Ns start_ns, Ns end_ns) { trace.graph_runs.push_back({start_ns, end_ns, 0, call(called_ns)}); }
  void copy(Ns called_ns, Ns end_ns, MemOpKind kind, std::uint8_t dst_kind) {
    MemOp op;
    op.end_ns = end_ns;
    op.queue = 0;
    op.api = call(called_ns);
    op.kind = kind;
    op.dst_kind = dst_kind;
    trace.mem_ops.push_back(op);
  }
  void wait(SyncKind kind, Ns start_ns, Ns end_ns, std::uint32_t stream = 7) {
    SyncWait sync;
    sync.start_ns = start_ns;
    sync.end_ns = end_ns;
    sync.where = {0, 0, 1, stream};
    sync.kind = kind;
    trace.syncs.push_back(sync);
  }
  std::string note() {
    parsers::note_clocks(trace.syncs, trace);
    return trace.stats.notes.empty() ? "" : line_of(trace.stats.notes.back());
  }
};

}  // namespace

TEST_CASE("clock: the least time to a kernel and from its end to a wait bound the error") {
  Launches launches;
  launches.kernel(1000, 3500, 9000);
  launches.kernel(2000, 9000, 9800);
  launches.wait(SyncKind::kStream, 3000, 11'000);
  CHECK(launches.note() ==
        "Clocks of CPU and GPU: at most 2.5 us apart, because no kernel starts before the call that launched it (nearest: 2.5 us) "
        "and neither kernel nor copy ends after a wait for it has returned (nearest: 1.2 us).");
  REQUIRE(launches.trace.clock);
  CHECK(launches.trace.clock->launch_slack_ns == 2500);
  CHECK(launches.trace.clock->wait_slack_ns == 1200);
  CHECK(launches.trace.clock->contradictions == 0);
}

TEST_CASE("clock: kernels before their call are counted, and by how much") {
  Launches launches;
  launches.kernel(4000, 1000, 2000);
  launches.kernel(4000, 3500, 3600);
  launches.wait(SyncKind::kContext, 5000, 7000);
  CHECK(launches.note() ==
        "Clocks of CPU and GPU: at most 3.4 us apart, because 2 kernels start before the call that launched them (by up to 3.0 us) "
        "and neither kernel nor copy ends after a wait for it has returned (nearest: 3.4 us).");
  CHECK(launches.trace.clock->contradictions == 2);
}

TEST_CASE("clock: work that outlives a wait for it is counted, and by how much") {
  Launches launches;
  launches.kernel(1000, 1500, 8000);
  launches.wait(SyncKind::kStream, 2000, 7300);
  CHECK(launches.note() ==
        "Clocks of CPU and GPU: at least 0.7 us apart, because no kernel starts before the call that launched it (nearest: 0.5 us) "
        "and 1 kernels and copies end after a wait for them has returned (by up to 0.7 us).");
  CHECK(launches.trace.clock->contradictions == 1);
}

TEST_CASE("clock: only waits for this stream, or for all of its context, that began after the call count") {
  Launches launches;
  launches.kernel(1000, 1500, 8000);
  launches.wait(SyncKind::kStream, 1050, 20'000);   // it began before the launch had returned
  launches.wait(SyncKind::kStream, 2000, 9000, 8);  // of another stream
  launches.wait(SyncKind::kEvent, 2000, 9000);
  CHECK(launches.note() ==
        "Clocks of CPU and GPU: no kernel starts before the call that launched it (nearest: 0.5 us); "
        "no wait tells how early the GPU's times may be.");
  CHECK_FALSE(launches.trace.clock->wait_slack_ns);
}

TEST_CASE("clock: a copy to pageable memory is a wait of its own, one to pinned memory is not") {
  for (const std::uint8_t kind : {1, 2}) {
    Launches launches;
    launches.kernel(0, 500, 600);
    launches.copy(1000, 1040, MemOpKind::kDeviceToHost, kind);
    launches.note();
    CHECK(launches.trace.clock->wait_slack_ns == (kind == 1 ? std::optional<Ns>(60) : std::nullopt));
  }
  Launches launches;
  launches.kernel(0, 500, 600);
  launches.copy(1000, 1040, MemOpKind::kHostToDevice, 1);
  launches.note();
  CHECK_FALSE(launches.trace.clock->wait_slack_ns);
}

TEST_CASE("clock: times are told in microseconds") {
  Launches launches;
  launches.kernel(1000, 251'000, 252'000);
  launches.wait(SyncKind::kStream, 3000, 1'252'000);
  CHECK(launches.note() ==
        "Clocks of CPU and GPU: at most 1000.0 us apart, because no kernel starts before the call that launched it (nearest: 250.0 us) "
        "and neither kernel nor copy ends after a wait for it has returned (nearest: 1000.0 us).");
}

TEST_CASE("clock: CUDA graphs and copies bound it as kernels do") {
  Launches graphs;
  graphs.graph(1000, 1800, 5000);
  graphs.wait(SyncKind::kStream, 1200, 5300);
  graphs.note();
  REQUIRE(graphs.trace.clock);
  CHECK(graphs.trace.clock->launch_slack_ns == 800);
  CHECK(graphs.trace.clock->wait_slack_ns == 300);
  Launches copies;
  copies.kernel(0, 500, 600);
  copies.copy(1000, 1040, MemOpKind::kHostToDevice, 3);
  copies.wait(SyncKind::kStream, 1200, 1500);
  copies.note();
  CHECK(copies.trace.clock->wait_slack_ns == 460);
}

TEST_CASE("clock: nothing is said where nothing was launched") {
  Launches launches;
  launches.copy(1000, 1040, MemOpKind::kDeviceToHost, 1);
  CHECK(launches.note() == "");
  CHECK_FALSE(launches.trace.clock);
}
