#include "adapters/onnxruntime/fusions.h"

#include "tests/unit/files.h"

using namespace nl;
using namespace nl::adapters;

namespace {

using Names = std::vector<std::string>;

// x → MatMul → Add → Gelu (Div, Erf, Mul) → y
const std::vector<GraphNode> kOriginal = {{"/up/MatMul", "MatMul", {"x", "weight"}, {"product"}},
                                          {"/up/Add", "Add", {"product", "bias"}, {"sum"}},
                                          {"/gelu/Div", "Div", {"sum", "sqrt_two"}, {"scaled"}},
                                          {"/gelu/Erf", "Erf", {"scaled"}, {"erf"}},
                                          {"/gelu/Mul", "Mul", {"sum", "erf"}, {"y"}}};

SessionNode executed(std::string name, std::string type) {
  SessionNode node;
  node.name = std::move(name);
  node.type = std::move(type);
  return node;
}

Names held(const std::vector<GraphNode>& optimised, std::vector<SessionNode> nodes, std::size_t which) {
  find_held_nodes(kOriginal, optimised, nodes);
  return nodes.at(which).holds;
}

}  // namespace

TEST_CASE("a fusion holds what the model has between its inputs and its outputs, in the model's order") {
  const std::vector<GraphNode> optimised = {kOriginal[0], {"BiasGelu", "BiasGelu", {"product", "bias"}, {"y"}}};
  const std::vector<SessionNode> nodes = {executed("/up/MatMul", "MatMul"), executed("BiasGelu", "BiasGelu")};
  CHECK(held(optimised, nodes, 0).empty());  // in the model as it is
  CHECK(held(optimised, nodes, 1) == Names{"/up/Add", "/gelu/Div", "/gelu/Erf", "/gelu/Mul"});
}

TEST_CASE("a fusion ends at what another node makes, even where its own inputs have new names") {
  const std::vector<GraphNode> optimised = {
      kOriginal[0], kOriginal[1], {"copy", "Cast", {"sum"}, {"sum_as_half"}}, {"Gelu", "Gelu", {"sum_as_half"}, {"y"}}};
  CHECK(held(optimised, {executed("Gelu", "Gelu")}, 0) == Names{"/gelu/Div", "/gelu/Erf", "/gelu/Mul"});
}

TEST_CASE("a fusion whose outputs the model does not have holds the node that its name begins with") {
  const std::vector<GraphNode> optimised = {{"/up/MatMul/MatMulAddFusion", "Gemm", {"x"}, {"new"}}};
  CHECK(held(optimised, {executed("/up/MatMul/MatMulAddFusion", "Gemm")}, 0) == Names{"/up/MatMul"});
}

TEST_CASE("constants are not held: they do nothing") {
  std::vector<SessionNode> nodes = {executed("/Pow", "Pow")};
  const std::vector<GraphNode> original = {{"/two", "Constant", {}, {"two"}}, {"/Pow", "Pow", {"x", "two"}, {"y"}}};
  find_held_nodes(original, {{"/Pow", "Pow", {"x", "two_as_float"}, {"y"}}}, nodes);
  CHECK(nodes[0].holds.empty());
}

TEST_CASE("nodes that ONNX Runtime added hold nothing") {
  const std::vector<GraphNode> optimised = {{"InsertedPrecisionFreeCast_x", "Cast", {"x"}, {"InsertedPrecisionFreeCast_x"}}};
  CHECK(held(optimised, {executed("InsertedPrecisionFreeCast_x", "Cast")}, 0).empty());
  CHECK(held({}, {executed("not in the file", "Cast")}, 0).empty());
}

TEST_CASE("fusions of one name are told apart by their order, if all of them ran") {
  const std::vector<GraphNode> optimised = {{"Fused", "Fused", {"x", "weight"}, {"product"}},
                                            {"Fused", "Fused", {"product", "bias"}, {"sum"}}};
  const SessionNode fused = executed("Fused", "Fused");
  CHECK(held(optimised, {fused, fused}, 0) == Names{"/up/MatMul"});
  CHECK(held(optimised, {fused, fused}, 1) == Names{"/up/Add"});
  CHECK(held(optimised, {fused}, 0).empty());
}
