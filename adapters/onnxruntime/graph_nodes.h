#pragma once

#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

namespace nl::adapters {

struct GraphNode {
  std::string name;  // of one without: type and place among its graph's nodes, as ONNX Runtime calls it ("Add_3")
  std::string type;
  std::vector<std::string> inputs, outputs;
};

// What an ONNX file says of its graph.
struct ModelGraph {
  std::vector<GraphNode> nodes;    // in the order of the file; those of inner graphs (If, Loop) before the node that has them
  std::set<int> weight_types;      // as element_types.h numbers them
  std::uint64_t weight_bytes = 0;  // with those in files beside it
};

// Reads names alone and skips the weights. A file that is no ONNX (ONNX Runtime's own .ort, say) has no nodes.
ModelGraph read_model_graph(const std::filesystem::path& file);

}  // namespace nl::adapters
