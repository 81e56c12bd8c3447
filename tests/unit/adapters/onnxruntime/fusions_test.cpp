#include "adapters/onnxruntime/graph_nodes.h"

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

std::vector<OptimisedNode> optimised_as(const std::vector<GraphNode>& optimised) { return optimised_nodes(kOriginal, optimised); }

}  // namespace

TEST_CASE("a fusion holds what the model has between its inputs and its outputs, in the model's order") {
  const auto nodes = optimised_as({kOriginal[0], {"BiasGelu", "BiasGelu", {"product", "bias"}, {"y"}}});
  REQUIRE(nodes.size() == 2);
  CHECK(nodes[0] == OptimisedNode{"/up/MatMul", "MatMul", {}});  // in the model as it is
  CHECK(nodes[1] == OptimisedNode{"BiasGelu", "BiasGelu", {"/up/Add", "/gelu/Div", "/gelu/Erf", "/gelu/Mul"}});
}

TEST_CASE("a fusion ends at what another node makes, even where its own inputs have new names") {
  const auto nodes =
      optimised_as({kOriginal[0], kOriginal[1], {"copy", "Cast", {"sum"}, {"sum_as_half"}}, {"Gelu", "Gelu", {"sum_as_half"}, {"y"}}});
  CHECK(nodes.at(3).holds == Names{"/gelu/Div", "/gelu/Erf", "/gelu/Mul"});
}

TEST_CASE("a fusion whose outputs the model does not have holds the node that its name begins with") {
  CHECK(optimised_as({{"/up/MatMul/MatMulAddFusion", "Gemm", {"x"}, {"new"}}}).at(0).holds == Names{"/up/MatMul"});
}

TEST_CASE("constants are not held: they do nothing") {
  const std::vector<GraphNode> original = {{"/two", "Constant", {}, {"two"}}, {"/Pow", "Pow", {"x", "two"}, {"y"}}};
  CHECK(optimised_nodes(original, {{"/Pow", "Pow", {"x", "two_as_float"}, {"y"}}}).at(0).holds.empty());
}

TEST_CASE("nodes that ONNX Runtime added hold nothing") {
  CHECK(optimised_as({{"InsertedPrecisionFreeCast_x", "Cast", {"x"}, {"InsertedPrecisionFreeCast_x"}}}).at(0).holds.empty());
  CHECK(optimised_as({}).empty());
}

TEST_CASE("fusions of one name hold each their own") {
  const auto nodes = optimised_as({{"Fused", "Fused", {"x", "weight"}, {"product"}}, {"Fused", "Fused", {"product", "bias"}, {"sum"}}});
  REQUIRE(nodes.size() == 2);
  CHECK(nodes[0].holds == Names{"/up/MatMul"});
  CHECK(nodes[1].holds == Names{"/up/Add"});
}
