#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "adapters/adapter.h"
#include "model/session.h"

namespace nl::adapters {

// ONNX numbers the types of values; ONNX Runtime's enum has the same numbers.
std::string dtype_of_element(int element);  // 1: "float32"; "onnx type 17" where no input can have it
std::optional<int> element_of_dtype(std::string_view dtype);

// The --precision that values of a type have: "fp32" for 1; empty for a type that networks do not compute with.
std::string precision_of_element(int element);

struct GraphNode {
  std::string name;  // of one without: type and place among its graph's nodes, as ONNX Runtime calls it ("Add_3")
  std::string type;
  std::vector<std::string> inputs, outputs;
};

// What an ONNX file says of its graph.
struct ModelGraph {
  std::vector<GraphNode> nodes;               // in the order of the file; those of inner graphs (If, Loop) before the node that has them
  std::map<int, std::uint64_t> weight_types;  // as ONNX numbers them, each with its bytes
  std::uint64_t weight_bytes = 0;             // with those in files beside it
  std::set<std::string> weight_files;         // these, as the file names them
  std::vector<TensorSpec> inputs;             // without those that have a value in the file
  bool found = false;                         // the file has a graph
};

// Reads only names and skips the weights. A file that is not ONNX (ONNX Runtime's own .ort, say) has no nodes.
ModelGraph read_model_graph(const std::filesystem::path& file);

// The nodes of the graph that ONNX Runtime made of `original`, each with those of the model file that were fused into it: what the model has
// between its inputs and its outputs; of one whose outputs the model does not have, the node that its name begins with. A node that is in the
// model as it is holds nothing.
std::vector<OptimisedNode> optimised_nodes(const std::vector<GraphNode>& original, const std::vector<GraphNode>& optimised);

}  // namespace nl::adapters
