// CUDA graphs in real processes, with a libcupti that stands in for the real one.
#include "exporters/nsys_sqlite/nsys_sqlite.h"
#include "parsers/nsys/sqlite.h"
#include "tests/catch.h"
#include "tests/unit/collector/injected_program.h"

using namespace nl;
using namespace nl::parsers;
using namespace nl::exporters;
using namespace nl::test;

TEST_CASE("a kernel of a CUDA graph is joined to where its node was captured") {
  ScratchFolder folder;
  REQUIRE(run_gpu({"graph", "2"}, folder.path()).exit_status == 0);
  const Trace trace = read_folder(folder.path());
  CHECK(trace.stats.rows_damaged.empty());
  const auto attention = ranges_named(trace, "LLM", "attention"), mlp = ranges_named(trace, "LLM", "mlp");
  REQUIRE((trace.kernels.size() == 8 && trace.kernel_nodes.size() == 8 && attention.size() == 1 && mlp.size() == 1));
  const auto made_in = [&](std::size_t kernel, const Range& range) {
    const GraphNode& node = trace.graph_nodes.at(trace.kernel_nodes[kernel]);
    return node.thread == range.thread && range.start_ns <= node.made_ns && node.made_ns <= range.end_ns;
  };
  for (std::size_t first : {0, 4}) {
    CHECK(made_in(first, attention[0]));
    CHECK(made_in(first + 1, mlp[0]));
    CHECK(trace.graph_nodes.at(trace.kernel_nodes[first + 2]).thread != mlp[0].thread);  // made by another thread
    CHECK(trace.kernel_nodes[first + 3] == kNone);                                       // no node was made with this number
  }
}

TEST_CASE("nodes that CUPTI cannot number, and graphs recorded as wholes, are joined to nothing") {
  for (const Environment& environment : {Environment{{"FAKE_CUPTI_NO_NODE_IDS", "1"}}, Environment{{"NL_STAGE_CUDA_GRAPHS", "graph"}}}) {
    ScratchFolder folder;
    REQUIRE(run_gpu({"graph", "1"}, folder.path(), environment).exit_status == 0);
    const Trace trace = read_folder(folder.path());
    CHECK(trace.graph_nodes.empty());
    CHECK(trace.kernels.size() + trace.graph_runs.size() == 4);
  }
}

TEST_CASE("CUDA graphs as wholes, where asked for: when they ran, which call launched them, no kernels of theirs") {
  ScratchFolder folder;
  REQUIRE(run_gpu({"everything"}, folder.path(), {{"NL_STAGE_CUDA_GRAPHS", "graph"}}).exit_status == 0);
  Trace trace = read_folder(folder.path());
  CHECK(trace.stats.rows_damaged.empty());
  CHECK(trace.kernels.size() == 3);  // those outside graphs
  auto steps = ranges_named(trace, "LLM", "decode_step");
  REQUIRE((trace.graph_runs.size() == 3 && steps.size() == 3));
  for (std::size_t i = 0; i < 3; ++i) {
    const GraphRun& run = trace.graph_runs[i];
    REQUIRE(run.api != kNone);
    const ApiCall& call = trace.api_calls[run.api];
    CHECK(run.start_ns == call.start_ns + 2000);
    CHECK(run.end_ns - run.start_ns == 1500);
    CHECK(trace.queues[run.queue].stream == 7);
    CHECK((steps[i].start_ns <= call.start_ns && call.start_ns <= steps[i].end_ns));
  }
  write_nsys_sqlite(trace, folder.path() / "run.sqlite");
  Trace again = read_nsys_sqlite(folder.path() / "run.sqlite");
  REQUIRE(again.graph_runs.size() == 3);
  CHECK(again.graph_runs[2].end_ns == trace.graph_runs[2].end_ns);
}
