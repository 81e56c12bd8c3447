#include "orchestrator/nodes.h"

#include <nlohmann/json.hpp>

#include "exporters/report/compare/compare.h"
#include "model/error.h"
#include "tests/catch.h"
#include "tests/unit/files.h"

using namespace nl;
using namespace nl::orchestrator;

namespace {

OperatorCall node_call(std::uint32_t index, const char* node, const char* op, OperatorType type, Ns host_ns) {
  OperatorCall call;
  call.index = index;
  call.node = node;
  call.name = op;
  call.type = type;
  call.host_ns = host_ns;
  return call;
}

Run run_of(const char* name, std::vector<OperatorCall> calls) {
  Run run;
  run.run_id = name;
  if (!calls.empty()) {
    OperatorStep& step = run.operator_steps.emplace_back();
    step.stage = "inference";
    step.source = "onnxruntime";
    step.calls = std::move(calls);
  }
  return run;
}

}  // namespace

TEST_CASE("nodes: pairs, what has no partner, and the share of time") {
  const Run a =
      run_of("a", {node_call(0, "/mm", "MatMul", OperatorType::kMatmul, 3000), node_call(1, "/a|b", "Cast", OperatorType::kCast, 1000)});
  const Run b = run_of("b", {node_call(0, "/mm", "MatMul", OperatorType::kMatmul, 1500)});
  const NodeComparison comparison = compare_nodes(a, b);
  const std::string text = exporters::nodes_markdown(comparison);
  CHECK(test::has(text, "1 pairs: 75.0 % of A's time and 100.0 % of B's."));
  CHECK(test::has(text, "| /mm | /mm | 3.00 | 1.50 | 0.50 | name |"));
  CHECK(test::has(text, "1 of 2 nodes only in A:"));
  CHECK(test::has(text, "| /a\\|b | Cast | 1.00 |"));
  const auto json = nlohmann::json::parse(exporters::nodes_json(comparison));
  CHECK(json["pairs"][0]["b_ns"] == 1500);
  CHECK(json["pairs"][0]["paired_by"] == "name");
  CHECK(json["only_a"][0]["op_name"] == "Cast");
  CHECK(json["only_b"].empty());
  CHECK(json["a"]["share_paired"] == 0.75);
}

TEST_CASE("nodes: a run without operators one by one is refused with its id") {
  const Run a = run_of("a", {node_call(0, "/mm", "MatMul", OperatorType::kMatmul, 3000)});
  const Run b = run_of("b", {});
  try {
    compare_nodes(a, b);
    FAIL("it was compared");
  } catch (const Error& error) {
    CHECK(error.kind == ErrorKind::kInput);
    CHECK(error.where == "b");
  }
}
