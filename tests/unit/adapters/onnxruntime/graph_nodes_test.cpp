#include "adapters/onnxruntime/graph_nodes.h"

#include "tests/unit/adapters/onnxruntime/models.h"

using namespace nl;
using namespace nl::adapters;
using namespace nl::test;

TEST_CASE("nodes of a model have name, type, inputs and outputs in the order of the file") {
  const ModelGraph graph = read_model_graph(made_model("linear.onnx"));
  REQUIRE(graph.nodes.size() == 2);
  CHECK(graph.nodes[0].name == "/linear/MatMul");
  CHECK(graph.nodes[0].type == "MatMul");
  CHECK(graph.nodes[0].inputs == std::vector<std::string>{"x", "weight"});
  CHECK(graph.nodes[1].outputs == std::vector<std::string>{"y"});
  CHECK(read_model_graph(made_model("deep.onnx")).nodes.size() == 8 * 34);
}

TEST_CASE("nodes of both branches come before the If that has them") {
  std::vector<std::string> names;
  for (const GraphNode& node : read_model_graph(made_model("branch.onnx")).nodes) names.push_back(node.name);
  CHECK(names == std::vector<std::string>{"/then/Mul", "/else/Neg", "/If"});
}

TEST_CASE("weights count with their types, those in another file too") {
  const ModelGraph graph = read_model_graph(made_model("external.onnx"));
  REQUIRE(graph.weight_types.size() == 1);
  CHECK(graph.weight_types.at(1) == graph.weight_bytes);
  CHECK(graph.weight_files == std::set<std::string>{"external.data"});
  CHECK(graph.weight_bytes > 16 * 8 * 4 + 8 * 4);
  CHECK(graph.weight_bytes < 16 * 8 * 4 + 8 * 4 + 200);  // what the file says of them besides
  const ModelGraph block = read_model_graph(made_model("block.onnx"));
  REQUIRE(block.weight_types.size() == 2);
  CHECK(block.weight_types.at(1) > block.weight_types.at(7));  // indices are few
}

TEST_CASE("a node without a name is called as ONNX Runtime calls it") {
  // ModelProto.graph (7) { node (1) { op_type (4) "Add" } node { op_type "Mul" } }
  Folder folder;
  const auto file = folder.file("m.onnx", std::string("\x3a\x0e\x0a\x05\x22\x03"
                                                      "Add"
                                                      "\x0a\x05\x22\x03"
                                                      "Mul",
                                                      16));
  const ModelGraph graph = read_model_graph(file);
  REQUIRE(graph.nodes.size() == 2);
  CHECK(graph.nodes[0].name == "Add_0");
  CHECK(graph.nodes[1].name == "Mul_1");
}

TEST_CASE("a file that is no model has no nodes") {
  Folder folder;
  CHECK(read_model_graph(folder.file("text", "hello, world")).nodes.empty());
  CHECK(read_model_graph(folder.file("empty", "")).nodes.empty());
  CHECK(read_model_graph(folder / "missing").nodes.empty());
  CHECK(read_model_graph(folder.path).nodes.empty());
  const std::string whole = read_text(made_model("branch.onnx"));
  for (std::size_t size = 25; size + 4 < whole.size(); size += 3)
    CHECK(read_model_graph(folder.file("cut", whole.substr(0, size))).nodes.empty());
}

TEST_CASE("graphs that lie in each other without end are no model") {
  // node { attribute { g { node { attribute { g … up to the last of them
  std::string graph;
  const auto wrapped = [](char field, const std::string& inside) {
    std::string size;
    for (std::size_t rest = inside.size();; rest >>= 7) {
      size += static_cast<char>(rest > 0x7f ? (rest & 0x7f) | 0x80 : rest);
      if (rest <= 0x7f) break;
    }
    return static_cast<char>(field << 3 | 2) + size + inside;
  };
  for (int depth = 0; depth < 1000; ++depth) graph = wrapped(1, wrapped(5, wrapped(6, graph)));
  Folder folder;
  CHECK(read_model_graph(folder.file("deep", wrapped(7, graph))).nodes.empty());
}
