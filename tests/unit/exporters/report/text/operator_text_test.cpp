#include "exporters/report/text/operator_text.h"

#include <sstream>

#include "exporters/report/reports.h"
#include "exporters/report/text/figure_text.h"
#include "model/operator.h"
#include "tests/catch.h"
#include "tests/unit/exporters/report/markdown_cells.h"

using namespace nl;
using namespace nl::exporters;
using namespace nl::exporters::report;

namespace {

OperatorCall made_node(const char* name, const char* op, OperatorType type, Ns host_ns, std::uint32_t depth = 0) {
  OperatorCall call;
  call.node = name;
  call.name = op;
  call.type = type;
  call.host_ns = host_ns;
  call.depth = depth;
  call.provider = "CPUExecutionProvider";
  return call;
}

// A product, a loop of 30 with a sum of 20 inside, another product.
OperatorStep made_step() {
  OperatorStep step;
  step.stage = "inference";
  step.source = "onnxruntime";
  step.file = "p.json";
  step.window = 2;
  step.windows = 5;
  step.iterations = 4;
  step.wall_ns = 200'000;
  step.calls = {made_node("/a", "MatMul", OperatorType::kMatmul, 50'000), made_node("/loop", "Loop", OperatorType::kControlFlow, 30'000),
                made_node("/loop/add", "Add", OperatorType::kElementwise, 20'000, 1),
                made_node("/b", "MatMul", OperatorType::kMatmul, 20'000)};
  for (std::uint32_t i = 0; i < step.calls.size(); ++i) step.calls[i].index = i;
  step.calls[0].shapes = "[[1, 4]]";
  step.calls[0].dtypes = "[float32]";
  step.calls[0].host_times = OperatorTimes{4, 204'000, 50'000, 48'000, 48'000, 55'000, 56'000};
  return step;
}

}  // namespace

TEST_CASE("the time of a node is its own: without what runs inside it, and the GPU's where that is known") {
  OperatorStep step = made_step();
  CHECK(own_times(step) == std::vector<Ns>{50'000, 10'000, 20'000, 20'000});
  CHECK(sum_of(own_times(step)) == 100'000);
  step.calls[0].gpu_ns = 7'000;
  CHECK(own_times(step)[0] == 7'000);
  step.calls[2].host_ns = 90'000;  // longer than the loop: its bodies ran side by side
  CHECK(own_times(step)[1] == 0);
  CHECK(has_nodes(step));
  CHECK_FALSE(has_nodes(OperatorStep()));
}

TEST_CASE("nodes by type, the most time first") {
  const auto types = times_by_type(made_step());
  REQUIRE(types.size() == 3);
  CHECK(types[0].type == OperatorType::kMatmul);
  CHECK(types[0].nodes == 2);
  CHECK(types[0].own_ns == 70'000);
  CHECK(types[0].share == 0.7);
  CHECK(types[1].type == OperatorType::kElementwise);
}

TEST_CASE("where there are more nodes than rows, those with the most time are shown, in order") {
  const OperatorStep step = made_step();
  const auto nodes = times_by_node(step, 2);
  REQUIRE(nodes.size() == 2);
  CHECK(nodes[0].call->node == "/a");
  CHECK(nodes[1].call->node == "/loop/add");
  CHECK(nodes_text(step, 2) ==
        "4 of 5 iterations ran these 4 nodes with these shapes. The nodes add up to 0.100000 ms of host time, 50.0 % of an iteration "
        "(0.200000 ms); 0.100000 ms are spent between them. "
        "Of 4 nodes, the 2 with the most time are shown, in order.");
}

TEST_CASE("what is not known of an iteration is left out") {
  OperatorStep step = made_step();
  step.wall_ns.reset();
  step.iterations = step.windows = 1;
  step.threads = 1;
  step.unprofiled_wall_ns = 90'000;
  CHECK(nodes_text(step, 4) ==
        "1 iteration ran these 4 nodes. The nodes add up to 0.100000 ms of host time. Unprofiled, an iteration takes 0.090000 ms. 1 thread "
        "computes.");
}

TEST_CASE("nodes that are not listed are in no sum, and the iteration is not compared with the others") {
  OperatorStep step = made_step();
  step.calls_left_out = 3;
  CHECK(nodes_text(step, 4) ==
        "4 of 5 iterations ran these 7 nodes with these shapes. The listed nodes add up to 0.100000 ms of host time. run.json lists the "
        "first 4.");
}

TEST_CASE("nodes that take longer than the iteration run side by side") {
  OperatorStep step = made_step();
  step.wall_ns = 80'000;
  CHECK(nodes_text(step, 4).find("0.100000 ms of host time, 125.0 % of an iteration (0.080000 ms); what runs side by side counts twice.") !=
        std::string::npos);
}

TEST_CASE("the nodes' time says whose it is") {
  OperatorStep step = made_step();
  step.calls[0].gpu_ns = 1;
  CHECK(nodes_text(step, 4).find("ms of GPU time (host time of the nodes without), ") != std::string::npos);
  for (OperatorCall& call : step.calls) call.gpu_ns = 1000;
  CHECK(nodes_text(step, 4).find("0.004000 ms of GPU time, ") != std::string::npos);
}

TEST_CASE("a node says what it holds, and its spread where there is one") {
  OperatorCall call = made_node("/fused", "FusedMatMul", OperatorType::kMatmul, 1);
  CHECK(node_text(call) == "/fused");
  call.holds = {"/a", "/b", "/c", "/d", "/e", "/f"};
  CHECK(node_text(call) == "/fused holds /a, /b, /c, /d and 2 more");
  call.node = "/a + /b";
  call.holds = {"/a", "/b"};
  CHECK(node_text(call) == "/a + /b");
  CHECK(percentiles_text(nullptr, exact_ms_text) == kNoValue);
  OperatorTimes median_only;
  CHECK(percentiles_text(&median_only, exact_ms_text) == kNoValue);
  CHECK(percentiles_text(&*made_step().calls[0].host_times, exact_ms_text) == "0.048000 to 0.055000");
}

TEST_CASE("operators.md lists nodes by type and one by one") {
  Run run;
  run.operators.resize(1);
  run.operators[0].source = "onnxruntime";
  run.operator_steps = {made_step()};
  const std::string text = operators_markdown(run);
  CHECK(text.find("## One inference, node by node (onnxruntime, p.json, as in iteration 2)\n\n4 of 5 iterations") != std::string::npos);
  using Cells = std::vector<std::string>;
  std::vector<Cells> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);)
    if (line.starts_with("|")) lines.push_back(cells(line));
  REQUIRE(lines.size() == 2 + 3 + 2 + 4);
  CHECK(lines[0] == Cells{"op_type", "nodes", "median_ms", "share %"});
  CHECK(lines[2] == Cells{"matmul", "2", "0.070000", "70.0"});
  CHECK(lines[5] ==
        Cells{"op_index", "node", "op_name", "op_type", "provider", "shapes", "median_ms", "p10 to p90 ms", "share %", "kernels"});
  CHECK(lines[7] == Cells{"0", "/a", "MatMul", "matmul", "CPUExecutionProvider", "[[1, 4]] of [float32]", "0.050000",
                          "0.048000 to 0.055000", "50.0", "—"});
  CHECK(lines[8][6] == "0.010000");
}
