#include "adapters/tensorrt/layer_times.h"
#include "tests/catch.h"

using namespace nl;
using adapters::tensorrt::layer_of_json;

TEST_CASE("a layer of the inspector has the ONNX nodes that were fused into it", "[tensorrt]") {
  using Nodes = std::vector<std::string>;
  const auto nodes = [](const std::string& metadata) {
    return layer_of_json("{\"Name\": \"l\", \"Metadata\": \"" + metadata + "\"}").holds;
  };
  CHECK(nodes("") == Nodes{});
  CHECK(nodes("[ONNX Layer: /a/MatMul]") == Nodes{"/a/MatMul"});
  CHECK(nodes("[ONNX Layer: /a/MatMul]\\u001e[ONNX Layer: /a/Add]\\u001f[ONNX Layer: /a/Relu]") == Nodes{"/a/MatMul", "/a/Add", "/a/Relu"});
  CHECK(nodes("[ONNX Layer: /blocks[0]/MatMul][ONNX Layer: b]") == Nodes{"/blocks[0]/MatMul", "b"});
  CHECK(nodes("[ONNX Layer: cut off") == Nodes{});
}

TEST_CASE("a layer of the inspector has the types and shapes of its inputs", "[tensorrt]") {
  const SessionNode node = layer_of_json(
      R"({"Name": "l", "LayerType": "gemm", "Inputs": [
        {"Name": "a", "Dimensions": [1, 16], "Format/Datatype": "Row major linear FP16 format"},
        {"Name": "b", "Dimensions": [], "Format/Datatype": "BFloat16"},
        {"Name": "c", "Dimensions": [4], "Format/Datatype": "UInt8"},
        {"Name": "d", "Dimensions": [4], "Format/Datatype": "Something"}]})");
  CHECK(node.type == "gemm");
  CHECK(node.shapes == "[[1, 16], [], [4], [4]]");
  CHECK(node.dtypes == "[float16, bfloat16, uint8, ?]");
}

TEST_CASE("a layer of the inspector that is damaged has what can be read", "[tensorrt]") {
  CHECK(layer_of_json("\"only a name\"").name == "only a name");
  CHECK(layer_of_json("{\"Name\": \"l\", \"Inputs\": 3, \"LayerType\": 4}").name == "l");
  CHECK(layer_of_json("{\"Name\"").name.empty());
  CHECK(layer_of_json("").name.empty());
}
