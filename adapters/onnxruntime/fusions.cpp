#include "adapters/onnxruntime/fusions.h"

#include <algorithm>
#include <set>
#include <unordered_map>
#include <unordered_set>

namespace nl::adapters {
namespace {

class Fusions {
 public:
  Fusions(const std::vector<GraphNode>& original, const std::vector<GraphNode>& optimised) : original_(original) {
    for (std::size_t n = 0; n < original.size(); ++n) {
      names_.insert(original[n].name);
      for (const std::string& output : original[n].outputs) producers_[output] = n;
    }
    for (const GraphNode& node : optimised) alive_.insert(node.outputs.begin(), node.outputs.end());
  }

  std::vector<std::string> held_by(const GraphNode& node) const {
    std::vector<std::string> held;
    for (const std::size_t n : between(node))
      if (original_[n].type != "Constant") held.push_back(original_[n].name);  // it does nothing
    if (held.empty() && !names_.contains(node.name)) held = longest_beginning(node.name);
    if (held.size() == 1 && held[0] == node.name) held.clear();
    return held;
  }

 private:
  // From its outputs back to what it reads, or to what another node of the optimised graph makes.
  std::set<std::size_t> between(const GraphNode& node) const {
    std::set<std::size_t> found;
    std::vector<std::string> open = node.outputs;
    while (!open.empty()) {
      const auto producer = producers_.find(open.back());
      open.pop_back();
      if (producer == producers_.end() || !found.insert(producer->second).second) continue;
      for (const std::string& input : original_[producer->second].inputs)
        if (!alive_.contains(input) && std::find(node.inputs.begin(), node.inputs.end(), input) == node.inputs.end()) open.push_back(input);
    }
    return found;
  }

  // "/linear/MatMul" of "/linear/MatMul/MatMulAddFusion": the optimisers append their own names.
  std::vector<std::string> longest_beginning(const std::string& name) const {
    for (std::size_t end = name.size(); end > 0; --end)
      if (const auto found = names_.find(name.substr(0, end)); found != names_.end() && (name[end] == '/' || name[end] == '_'))
        return {*found};
    return {};
  }

  const std::vector<GraphNode>& original_;
  std::unordered_set<std::string> names_, alive_;
  std::unordered_map<std::string, std::size_t> producers_;
};

}  // namespace

std::vector<OptimisedNode> optimised_nodes(const std::vector<GraphNode>& original, const std::vector<GraphNode>& optimised) {
  const Fusions fusions(original, optimised);
  std::vector<OptimisedNode> nodes;
  for (const GraphNode& node : optimised) nodes.push_back({node.name, node.type, fusions.held_by(node)});
  return nodes;
}

}  // namespace nl::adapters
