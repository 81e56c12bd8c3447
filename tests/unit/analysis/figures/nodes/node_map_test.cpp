#include "analysis/figures/nodes/node_map.h"

#include "tests/catch.h"

using namespace nl;
using namespace nl::analysis;

namespace {

using Op = OperatorType;

OperatorCall record(const char* node, Op type, Ns ns, std::vector<std::string> holds = {}, const char* shapes = "") {
  OperatorCall call;
  call.node = node;
  call.type = type;
  call.host_ns = ns;
  call.holds = std::move(holds);
  call.shapes = shapes;
  return call;
}

OperatorStep engine(std::vector<OperatorCall> calls) {
  OperatorStep step;
  step.calls = std::move(calls);
  return step;
}

std::string rows_of(const NodeMap& map) {
  std::string text;
  const auto list = [](const std::vector<std::size_t>& members) {
    std::string out;
    for (const std::size_t i : members) out += (out.empty() ? "" : "+") + std::to_string(i);
    return out;
  };
  for (const NodePair& pair : map.pairs)
    text += list(pair.left) + "=" + list(pair.right) + " " + "nhsio"[static_cast<int>(pair.match)] + "\n";
  return text + "left " + list(map.only_left) + " right " + list(map.only_right);
}

}  // namespace

TEST_CASE("nodes of the same name are pairs, in the left side's order, with the time of each side") {
  const NodeMap map = map_nodes(engine({record("/a", Op::kMatmul, 60), record("/b", Op::kNorm, 30), record("/left", Op::kOther, 10)}),
                                engine({record("/b", Op::kNorm, 5), record("/a", Op::kMatmul, 15)}));
  CHECK(rows_of(map) == "0=1 n\n1=0 n\nleft 2 right ");
  CHECK(map.pairs[0].left_ns == 60);
  CHECK(map.pairs[0].right_ns == 15);
  CHECK(map.left_share == 0.9);
  CHECK(map.right_share == 1.0);
}

TEST_CASE("a fused node stands beside all that it holds") {
  // Three nodes here; there one layer holds the first two, and the third has another name around the same node.
  const NodeMap map =
      map_nodes(engine({record("/mul", Op::kElementwise, 10), record("/mm", Op::kMatmul, 70), record("/act", Op::kActivation, 20)}),
                engine({record("/mul + /mm", Op::kMatmul, 30, {"/mul", "/mm"}), record("PWN(/act)", Op::kElementwise, 8, {"/act"})}));
  CHECK(rows_of(map) == "0+1=0 h\n2=1 h\nleft  right ");
  CHECK(map.pairs[0].left_ns == 80);
}

TEST_CASE("fusions that overlap are one row: ONNX Runtime fuses a and b, TensorRT b and c") {
  const NodeMap map = map_nodes(engine({record("ab", Op::kMatmul, 5, {"/a", "/b"}), record("/c", Op::kNorm, 3)}),
                                engine({record("/a", Op::kMatmul, 2), record("bc", Op::kNorm, 4, {"/b", "/c"})}));
  CHECK(rows_of(map) == "0+1=0+1 h\nleft  right ");
}

TEST_CASE("a name that one side fused more into is no pair by name alone") {
  const NodeMap map = map_nodes(engine({record("/mm", Op::kMatmul, 5), record("/add", Op::kElementwise, 1)}),
                                engine({record("/mm", Op::kMatmul, 4, {"/mm", "/add"})}));
  CHECK(rows_of(map) == "0+1=0 h\nleft  right ");
}

TEST_CASE("without names the same type and shapes are pairs in order, where both sides have as many") {
  const char* square = "[[4, 4], [4, 4]]";
  const OperatorStep named = engine({record("/q", Op::kMatmul, 1, {}, square), record("/k", Op::kMatmul, 2, {}, square),
                                     record("/out", Op::kMatmul, 3, {}, "[[4, 8], [8, 4]]")});
  const OperatorStep torch =
      engine({record("aten::mm_0", Op::kMatmul, 4, {}, square), record("aten::mm_1", Op::kMatmul, 5, {}, square),
              record("aten::mm_2", Op::kMatmul, 6, {}, "[[4, 9], [9, 4]]"), record("aten::mm_3", Op::kMatmul, 6, {}, "[[4, 9], [9, 4]]")});
  CHECK(rows_of(map_nodes(named, torch)) == "0=0 s\n1=1 s\nleft 2 right 2+3");
}

TEST_CASE("between pairs, what is left of one type is paired by its order") {
  const OperatorStep named =
      engine({record("/a", Op::kMatmul, 1), record("/n", Op::kNorm, 2), record("/b", Op::kMatmul, 1), record("/s", Op::kSoftmax, 1)});
  const OperatorStep other =
      engine({record("/a", Op::kMatmul, 1), record("x1", Op::kNorm, 2), record("/b", Op::kMatmul, 1), record("x2", Op::kNorm, 1)});
  CHECK(rows_of(map_nodes(named, other)) == "0=0 n\n1=1 o\n2=2 n\nleft 3 right 3");
}

TEST_CASE("what is fused or of no known type is not paired by its order") {
  CHECK(rows_of(map_nodes(engine({record("x", Op::kFused, 1)}), engine({record("y", Op::kFused, 1)}))) == "left 0 right 0");
}

TEST_CASE("what an operator calls is part of it, the body of control flow is not") {
  OperatorStep torch = engine({record("linear", Op::kMatmul, 10, {}, "[[1]]"), record("addmm", Op::kMatmul, 8, {}, "[[1]]"),
                               record("if", Op::kControlFlow, 20), record("add", Op::kElementwise, 15, {}, "[[2]]")});
  torch.calls[1].depth = torch.calls[3].depth = 1;
  const NodeMap map =
      map_nodes(torch, engine({record("/MatMul", Op::kMatmul, 3, {}, "[[1]]"), record("/Add", Op::kElementwise, 4, {}, "[[2]]")}));
  CHECK(rows_of(map) == "0=0 s\n3=1 s\nleft 2 right ");
  CHECK(map.pairs[0].left_ns == 10);
}

TEST_CASE("two empty steps have nothing in common, and no share") {
  const NodeMap map = map_nodes({}, {});
  CHECK(map.pairs.empty());
  CHECK(map.left_share == 0);
}

TEST_CASE("a backend that does not record constants is paired by the first input") {
  const NodeMap map = map_nodes(engine({record("/q", Op::kMatmul, 30, {}, "[[1, 128]]"), record("/k", Op::kMatmul, 30, {}, "[[1, 128]]"),
                                        record("/a", Op::kElementwise, 40, {}, "[[1, 128], [128]]")}),
                                engine({record("aten::matmul 1", Op::kMatmul, 5, {}, "[[1, 128], [128, 128]]"),
                                        record("aten::mul 1", Op::kElementwise, 2, {}, "[[4, 8], []]"),
                                        record("aten::matmul 2", Op::kMatmul, 5, {}, "[[1, 128], [128, 128]]")}));
  REQUIRE(map.pairs.size() == 2);
  CHECK(map.pairs[0].match == NodeMatch::kInput);
  CHECK(map.pairs[1].right == std::vector<std::size_t>{2});
  CHECK(map.left_share == Approx(0.6));
  CHECK(map.only_right == std::vector<std::size_t>{1});
}
