#include "tests/catch.h"
#include "tests/unit/analysis/trace_builder.h"

// What a run says of its capture as a whole.

TEST_CASE("coverage of each GPU: busy time, kernels and communication apart") {
  TraceBuilder b;
  b.stage("prefill", 0, 100);
  b.launch(0, 10, 30);                                                            // 10 to 40
  b.kernel("ncclDevKernel_AllReduce_Sum_bf16_RING_LL(x)", 35, 15, b.call(2), 0);  // to 50, 5 of it hidden
  b.copy(nl::MemOpKind::kHostToDevice, 60, 80, b.call(4), 0);
  const nl::Run run = b.run_all();
  REQUIRE(run.coverage.devices.size() == 1);
  const auto& gpu = run.coverage.devices[0];
  CHECK(gpu.device == 0);
  CHECK(gpu.pid == 100);
  CHECK(gpu.busy_ns == 60);
  CHECK(gpu.kernel_sum_ns == 45);
  CHECK(gpu.communication_ns == 10);
  CHECK(gpu.overlapped_communication_ns == 5);
  CHECK(run.coverage.gpu_busy_ns == 60);
  CHECK(run.coverage.kernel_sum_ns == 45);
}

TEST_CASE("graphs captured at graph level count together") {
  TraceBuilder b;
  b.stage("prefill", 0, 300);
  b.graph(10, 20, b.call(5));
  b.graph(30, 60, b.call(25));
  b.launch(90, 100, 60);
  CHECK(*b.run_all().coverage.graph_only_share == Approx(0.4));
}

TEST_CASE("a range has kernels where kernels were captured, and GPU time where any GPU work was") {
  TraceBuilder b;
  b.range("mine", "work", 0, 100);
  b.launch(10, 20, 30);
  b.copy(nl::MemOpKind::kHostToDevice, 60, 70, b.call(15));
  nl::Run run = b.run_all();
  REQUIRE(run.ranges.size() == 1);
  CHECK(run.ranges[0].kernel_calls == 1u);
  CHECK(run.ranges[0].gpu_busy_ns == 40);
  b.trace.has_kernel_data = false;
  b.trace.kernels.clear();
  run = b.run_all();
  CHECK_FALSE(run.ranges.at(0).kernel_calls);
  CHECK(run.ranges[0].gpu_busy_ns == 10);
  b.trace.has_mem_data = false;
  b.trace.mem_ops.clear();
  CHECK_FALSE(b.run_all().ranges.at(0).gpu_busy_ns);
}

TEST_CASE("ranges are listed by their time, then by domain and name") {
  TraceBuilder b;
  b.range("b", "x", 0, 10);
  b.range("a", "y", 0, 10);
  b.range("a", "x", 0, 10);
  b.range("z", "z", 0, 20);
  std::vector<std::string> names;
  for (const auto& range : b.run_all().ranges) names.push_back(range.domain + ":" + range.name);
  CHECK(names == std::vector<std::string>{"z:z", "a:x", "a:y", "b:x"});
}

TEST_CASE("summarising again replaces what was there") {
  TraceBuilder b;
  b.stage("prefill", 0, 100);
  b.launch(10, 20, 30);
  b.trace.api_stats.push_back({b.trace.strings.intern("cudaLaunchKernel"), {}});
  b.trace.api_stats[0].durations.add(2);
  nl::Run run = b.run_all();
  const nl::Run once = run;
  nl::analysis::summarise(b.trace, {}, run);
  CHECK(run.api.size() == once.api.size());
  CHECK(run.ranges.size() == once.ranges.size());
  CHECK(run.stages.size() == once.stages.size());
  CHECK(run.kernels->size() == once.kernels->size());
  CHECK(run.communication.size() == once.communication.size());
  CHECK(run.coverage.devices.size() == 1);
  b.trace.has_kernel_data = false;
  b.trace.kernels.clear();
  nl::analysis::summarise(b.trace, {}, run);
  CHECK_FALSE(run.kernels);
}

TEST_CASE("the share of graphs' time that is joined to nothing is stated where there are graphs") {
  TraceBuilder b;
  b.stage("decode_all", 0, 100);
  b.launch(10, 20, 5);
  CHECK_FALSE(b.run_all().coverage.graph_unjoined_share);
  const std::uint32_t launch = b.call(30, 0, "cudaGraphLaunch");
  b.kernel("k", 40, 30, launch).in_graph = true;
  b.kernel("k", 80, 10, launch).in_graph = true;
  CHECK(b.run_all().coverage.graph_unjoined_share == 1.0);
  b.trace.graph_nodes = {{0, 5}};
  b.trace.kernel_nodes = {nl::kNone, 0, nl::kNone};
  CHECK(*b.run_all().coverage.graph_unjoined_share == Approx(0.25));
}
