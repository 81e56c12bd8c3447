#pragma once

#include <vector>

#include "adapters/onnxruntime/graph_nodes.h"
#include "model/session.h"

namespace nl::adapters {

// Fills SessionNode::holds: the nodes of the model file that ONNX Runtime fused into one. `optimised` is the graph that it made of `original`.
// A fused node holds what the model has between its inputs and its outputs; one whose outputs the model does not have, the node that its name
// begins with. A node that is in the model as it is holds nothing.
void find_held_nodes(const std::vector<GraphNode>& original, const std::vector<GraphNode>& optimised, std::vector<SessionNode>& nodes);

}  // namespace nl::adapters
