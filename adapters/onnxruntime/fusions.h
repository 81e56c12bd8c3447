#pragma once

#include <vector>

#include "adapters/onnxruntime/graph_nodes.h"
#include "model/session.h"

namespace nl::adapters {

// The nodes of the graph that ONNX Runtime made of `original`, each with those of the model file that were fused into it: what the model has
// between its inputs and its outputs; of one whose outputs the model does not have, the node that its name begins with. A node that is in the
// model as it is holds nothing.
std::vector<OptimisedNode> optimised_nodes(const std::vector<GraphNode>& original, const std::vector<GraphNode>& optimised);

}  // namespace nl::adapters
