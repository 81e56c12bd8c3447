#include "analysis/trace/gpu_order.h"

#include "tests/catch.h"

using namespace nl;

namespace {

// Two streams, whose rows stand behind each other as exports have them. Each row says where it stood: duration, bytes, node.
Trace two_streams(std::size_t rows) {
  Trace trace;
  for (std::uint32_t i = 0; i < rows; ++i) {
    const Ns start_ns = 10 * (i < rows / 2 ? 2 * i : 2 * (i - static_cast<std::uint32_t>(rows / 2)) + 1);
    trace.kernels.push_back({.start_ns = start_ns, .duration_ns = i + 1});
    trace.kernel_nodes.push_back(i);
    trace.mem_ops.push_back({.start_ns = start_ns, .end_ns = start_ns + 1, .bytes = i});
    trace.mem_op_nodes.push_back(i);
    trace.graph_runs.push_back({.start_ns = start_ns, .end_ns = start_ns + i});
    if (i % 3 == 0) trace.collectives.push_back({.kernel = i, .number = i});
    if (i % 5 == 0) trace.messages.push_back({.kernel = i, .bytes = i});
  }
  return trace;
}

template <class Rows>
bool by_start(const Rows& rows) {
  return std::is_sorted(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.start_ns < b.start_ns; });
}

}  // namespace

TEST_CASE("work of the GPUs is brought into the order of its start, with all that names it") {
  const Trace before = two_streams(101);
  Trace trace = two_streams(101);
  analysis::order_by_start(trace);
  REQUIRE(trace.kernels.size() == before.kernels.size());
  CHECK(by_start(trace.kernels));
  CHECK(by_start(trace.mem_ops));
  CHECK(by_start(trace.graph_runs));
  for (std::size_t i = 0; i < trace.kernels.size(); ++i) {
    CHECK(trace.kernel_nodes[i] + 1 == trace.kernels[i].duration_ns);
    CHECK(trace.mem_op_nodes[i] == trace.mem_ops[i].bytes);
  }
  REQUIRE(trace.collectives.size() == before.collectives.size());
  for (const CollectiveCall& call : trace.collectives) CHECK(trace.kernels[call.kernel].duration_ns == call.number + 1);
  for (const MessageSize& message : trace.messages) CHECK(trace.kernels[message.kernel].duration_ns == message.bytes + 1);
  const auto by_kernel = [](const auto& a, const auto& b) { return a.kernel < b.kernel; };
  CHECK(std::is_sorted(trace.collectives.begin(), trace.collectives.end(), by_kernel));
  CHECK(std::is_sorted(trace.messages.begin(), trace.messages.end(), by_kernel));
}

TEST_CASE("work that starts together keeps its order, and a trace without nodes gets none") {
  Trace trace;
  for (std::uint32_t i = 0; i < 40; ++i) trace.kernels.push_back({.start_ns = i % 2 == 0 ? 20 : 10, .duration_ns = i});
  analysis::order_by_start(trace);
  CHECK(by_start(trace.kernels));
  for (std::size_t i = 1; i < trace.kernels.size(); ++i)
    if (trace.kernels[i].start_ns == trace.kernels[i - 1].start_ns) CHECK(trace.kernels[i - 1].duration_ns < trace.kernels[i].duration_ns);
  CHECK(trace.kernel_nodes.empty());
}
