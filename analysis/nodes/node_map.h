#pragma once

#include <string>
#include <vector>

#include "model/operator.h"

namespace nl::analysis {

// How nodes of two engines that ran the same model were found to be the same, the surest first.
enum class NodeMatch {
  kName,     // they have the same name
  kHolds,    // a node of one was fused into the other, or both hold the same
  kShapes,   // the same type and the same shapes, as often on both sides, in order
  kInput,    // likewise, by the shape of the first input: backends do not all record constants
  kOrder,    // the same type between the same neighbours, in order
};

// What both sides run of the model together: one node on each, or several where either side fuses more.
struct NodePair {
  std::vector<std::size_t> left, right;  // indices into the steps' calls
  NodeMatch match = NodeMatch::kName;
  Ns left_ns = 0, right_ns = 0;          // their own times
};

struct NodeMap {
  std::vector<NodePair> pairs;           // in the left side's order
  std::vector<std::size_t> only_left, only_right;
  double left_share = 0, right_share = 0;  // of each side's time: in pairs
};

// The nodes of one model as two engines ran them, side by side: the ONNX model in ONNX Runtime and in TensorRT, or in two precisions.
NodeMap map_nodes(const OperatorStep& left, const OperatorStep& right);

}  // namespace nl::analysis
