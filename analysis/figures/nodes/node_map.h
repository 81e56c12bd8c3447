#pragma once

#include "model/node_map.h"

namespace nl::analysis {

// The nodes of one model as two engines ran them, side by side: the ONNX model in ONNX Runtime and in TensorRT, or in two precisions.
NodeMap map_nodes(const OperatorStep& left, const OperatorStep& right);

}  // namespace nl::analysis
