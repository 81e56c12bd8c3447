#include "analysis/figures/nodes/session_figures.h"

#include <string>
#include <utility>

#include "tests/catch.h"

using namespace nl;
using namespace nl::analysis;

namespace {

SessionNode node(const char* name, const char* type, const char* shapes = "[[2, 4]]", std::uint32_t depth = 0) {
  SessionNode out;
  out.name = name;
  out.type = type;
  out.provider = "CPUExecutionProvider";
  out.shapes = shapes;
  out.dtypes = "[float32]";
  out.depth = depth;
  return out;
}

// MatMul, then Add, three times.
ModelSession three_iterations() {
  ModelSession session;
  session.backend = "onnxruntime";
  session.threads = 2;
  session.nodes = {node("/a/MatMul", "MatMul"), node("/a/Add", "Add")};
  session.nodes[0].holds = {"/a/Mul", "/a/MatMul_raw"};
  session.profiled_ns = {110, 100, 130};
  session.unprofiled_ns = {90, 96};
  const Ns matmul[] = {60, 50, 80};
  for (std::uint32_t i = 0; i < 3; ++i) {
    session.runs.push_back({i, 0, 1000 * (i + 1), matmul[i], {}});
    session.runs.push_back({i, 1, 1000 * (i + 1) + 100, 10 + i, {}});
  }
  return session;
}

OperatorStep only_step(const ModelSession& session) {
  const auto steps = steps_of(session);
  REQUIRE(steps.size() == 1);
  return steps[0];
}

const OperatorEntry& entry_named(const OperatorTable& table, const std::string& name) {
  for (const OperatorEntry& entry : table.entries)
    if (entry.name == name) return entry;
  FAIL("no entry " << name);
  return table.entries[0];
}

}  // namespace

TEST_CASE("a session's nodes are listed in order, each with its times over the iterations") {
  const OperatorStep step = only_step(three_iterations());
  CHECK(step.stage == "inference");
  CHECK(step.source == "onnxruntime");
  CHECK(step.iterations == 3);
  CHECK(step.windows == 3);
  CHECK(step.wall_ns == 110);
  CHECK(step.unprofiled_wall_ns == 93);
  CHECK(step.threads == 2u);
  REQUIRE(step.calls.size() == 2);
  const OperatorCall& matmul = step.calls[0];
  CHECK(matmul.node == "/a/MatMul");
  CHECK(matmul.name == "MatMul");
  CHECK(matmul.type == OperatorType::kMatmul);
  CHECK(matmul.provider == "CPUExecutionProvider");
  CHECK(matmul.holds == std::vector<std::string>{"/a/Mul", "/a/MatMul_raw"});
  CHECK(matmul.host_ns == 60);
  REQUIRE(matmul.host_times);
  CHECK(matmul.host_times->min_ns == 50);
  CHECK(matmul.host_times->max_ns == 80);
  CHECK_FALSE(matmul.gpu_ns);
  CHECK(matmul.executions == 1);
  CHECK(step.calls[1].index == 1);
  CHECK(step.calls[1].host_ns == 11);
}

TEST_CASE("a session's table adds up by type") {
  const OperatorTable table = table_of(three_iterations());
  CHECK(table.source == "onnxruntime");
  REQUIRE(table.entries.size() == 2);
  CHECK(table.entries[0].name == "MatMul");
  CHECK(table.entries[0].type == "matmul");
  CHECK(table.entries[0].calls == 3);
  CHECK(table.entries[0].self_ns == 190);
  CHECK(table.entries[0].shapes.at(0).calls == 3);
  CHECK(table.entries[0].shapes.at(0).dtypes == "[float32]");
  CHECK_FALSE(table.cuda_ns);
}

TEST_CASE("iterations with other shapes are a step of their own, the one with the most time first") {
  ModelSession session = three_iterations();
  session.nodes.push_back(node("/a/MatMul", "MatMul", "[[16, 4]]"));
  session.runs[4].node = 2;  // the third iteration has a longer input, and its MatMul takes 80
  const auto steps = steps_of(session);
  REQUIRE(steps.size() == 2);
  CHECK(steps[0].calls[0].shapes == "[[2, 4]]");
  CHECK(steps[0].iterations == 2);
  CHECK(steps[0].windows == 3);
  CHECK_FALSE(steps[0].unprofiled_wall_ns);  // which shapes those had is not known
  CHECK(steps[1].calls[0].shapes == "[[16, 4]]");
  CHECK(steps[1].window == 2);
  CHECK(steps[1].wall_ns == 130);
  CHECK_FALSE(steps[1].calls[0].host_times);
}

TEST_CASE("where shapes change every time, the nodes are one step with the shapes of its median iteration") {
  ModelSession session;
  session.backend = "onnxruntime";
  for (std::uint32_t i = 0; i < 7; ++i) {
    session.nodes.push_back(node("/cache/Concat", "Concat", ("[[" + std::to_string(i) + ", 4]]").c_str()));
    session.runs.push_back({i, i, 100 * (i + 1), 10 + i, {}});
  }
  const auto steps = steps_of(session);
  REQUIRE(steps.size() == 1);
  CHECK(steps[0].iterations == 7);
  CHECK(steps[0].calls.at(0).shapes == "[[3, 4]]");
  CHECK(steps[0].calls.at(0).host_ns == 13);
  CHECK(steps[0].calls.at(0).host_times->count == 7);
}

TEST_CASE("control flow holds what runs inside it, and a body that runs often is one record") {
  ModelSession session;
  session.backend = "onnxruntime";
  session.nodes = {node("/Loop", "Loop", ""), node("/body/Add", "Add", "[[4]]", 1)};
  // The events of a body come before its loop, which starts in the same microsecond.
  session.runs = {{0, 1, 500, 30, {}}, {0, 1, 540, 20, {}}, {0, 0, 500, 100, {}}};
  const OperatorStep step = only_step(session);
  REQUIRE(step.calls.size() == 2);
  CHECK(step.calls[0].type == OperatorType::kControlFlow);
  CHECK(step.calls[1].depth == 1);
  CHECK(step.calls[1].executions == 2);
  CHECK(step.calls[1].host_ns == 50);
  const OperatorTable table = table_of(session);
  CHECK(entry_named(table, "Loop").total_ns == 100);
  CHECK(entry_named(table, "Loop").self_ns == 50);
  CHECK(entry_named(table, "Add").calls == 2);
}

TEST_CASE("a backend that times the device alone has no host times") {
  ModelSession session = three_iterations();
  session.backend = "tensorrt";
  session.host_times_known = false;
  for (NodeRun& run : session.runs) run.gpu_ns = std::exchange(run.host_ns, 0);
  const OperatorStep step = only_step(session);
  CHECK_FALSE(step.calls[0].host_ns);
  CHECK_FALSE(step.calls[0].host_times);
  CHECK(step.calls[0].gpu_ns == 60);
  CHECK(step.calls[0].gpu_times->max_ns == 80);
  const OperatorTable table = table_of(session);
  CHECK(table.cuda_ns == 190 + 33);
  CHECK_FALSE(table.entries[0].host_time_known);
  CHECK(table.entries[0].cuda_self_ns == 190);
}

TEST_CASE("a session without nodes, or with runs of none, has no step") {
  ModelSession session;
  session.backend = "libtorch";
  session.runs = {{0, 7, 1, 1, {}}};
  CHECK(steps_of(session).empty());
  CHECK(table_of(session).entries.empty());
}

TEST_CASE("runs without start times keep the order in which they are given") {
  ModelSession session = three_iterations();
  for (NodeRun& run : session.runs) run.start_ns = 0;
  session.nodes[0].depth = 1;
  const OperatorStep step = only_step(session);
  CHECK(step.calls.at(0).node == "/a/MatMul");
  CHECK(step.calls.at(1).node == "/a/Add");
}
