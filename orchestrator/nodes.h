#pragma once

#include "model/node_map.h"
#include "model/run.h"

namespace nl::orchestrator {

// Two runs of one model, node by node: ONNX Runtime and TensorRT, two precisions, two backends. Throws Error(kInput) where a run has no operators one
// by one.
NodeComparison compare_nodes(Run left, Run right);

}  // namespace nl::orchestrator
