#include "adapters/libtorch/calls.h"

#include "tests/catch.h"

using namespace nl;
using namespace nl::adapters;

namespace {

constexpr std::uint32_t kTop = RecordedCall::kNone;

std::vector<SessionNode> looks_of(const std::vector<std::string>& types) {
  std::vector<SessionNode> looks;
  for (const std::string& type : types) looks.push_back({"", type, "cpu", "[[2]]", "[float32]", 0, {}});
  return looks;
}

std::vector<std::string> names_of(const Executions& done) {
  std::vector<std::string> names;
  for (const SessionNode& node : done.nodes) names.push_back(node.name);
  return names;
}

std::vector<std::uint32_t> nodes_of(const Executions& done) {
  std::vector<std::uint32_t> nodes;
  for (const NodeRun& run : done.runs) nodes.push_back(run.node);
  return nodes;
}

}  // namespace

TEST_CASE("the n-th call of a type is one node in all iterations") {
  const std::vector<RecordedCall> calls = {{0, 0, kTop, 10, 20},   {0, 1, kTop, 20, 25},   {0, 0, kTop, 30, 36},
                                           {1, 0, kTop, 110, 120}, {1, 1, kTop, 120, 125}, {1, 0, kTop, 130, 137}};
  const Executions done = executions_of(calls, looks_of({"aten::mm", "aten::add"}));
  CHECK(names_of(done) == std::vector<std::string>{"aten::mm 1", "aten::add 1", "aten::mm 2"});
  CHECK(nodes_of(done) == std::vector<std::uint32_t>{0, 1, 2, 0, 1, 2});
  CHECK(done.runs[5] == NodeRun{1, 2, 130, 7, std::nullopt});
}

TEST_CASE("a call below another one is a node of its own, one level deeper") {
  // linear(mm), mm: the first mm belongs to linear.
  const std::vector<RecordedCall> calls = {{0, 0, kTop, 0, 9}, {0, 1, 0, 1, 8}, {0, 1, kTop, 10, 12}};
  const Executions done = executions_of(calls, looks_of({"aten::linear", "aten::mm"}));
  CHECK(names_of(done) == std::vector<std::string>{"aten::linear 1", "aten::mm 1", "aten::mm 2"});
  CHECK(done.nodes[1].depth == 1);
  CHECK(done.nodes[2].depth == 0);
}

TEST_CASE("an iteration that took another branch does not move the nodes behind it") {
  // relu in the first iteration only, mm after it in both.
  const std::vector<RecordedCall> calls = {{0, 0, kTop, 0, 1}, {0, 1, kTop, 2, 3}, {1, 1, kTop, 4, 5}};
  const Executions done = executions_of(calls, looks_of({"aten::relu", "aten::mm"}));
  CHECK(names_of(done) == std::vector<std::string>{"aten::mm 1", "aten::relu 1"});  // as the last iteration ran them
  CHECK(nodes_of(done) == std::vector<std::uint32_t>{1, 0, 0});
}

TEST_CASE("calls are counted in each module by themselves") {
  std::vector<SessionNode> looks = looks_of({"aten::mm", "aten::mm"});
  looks[0].name = "blocks.0";
  looks[1].name = "blocks.1";
  const Executions done = executions_of({{0, 0, kTop, 0, 1}, {0, 0, kTop, 2, 3}, {0, 1, kTop, 4, 5}}, looks);
  CHECK(names_of(done) == std::vector<std::string>{"blocks.0/aten::mm 1", "blocks.0/aten::mm 2", "blocks.1/aten::mm 1"});
}

TEST_CASE("no calls are no nodes") {
  const Executions done = executions_of({}, {});
  CHECK(done.nodes.empty());
  CHECK(done.runs.empty());
}
