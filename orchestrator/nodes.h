#pragma once

#include <filesystem>

#include "model/node_map.h"

namespace nl::orchestrator {

// Two runs of one model, node by node: ONNX Runtime and TensorRT, two precisions, two backends. Each a bundle or a run.json.
// Throws Error(kInput) where a run has no operators one by one.
NodeComparison compare_nodes(const std::filesystem::path& left, const std::filesystem::path& right);

}  // namespace nl::orchestrator
