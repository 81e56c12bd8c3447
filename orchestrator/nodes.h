#pragma once

#include <filesystem>
#include <string>

#include "analysis/operators/node_map.h"
#include "model/run.h"

namespace nl::orchestrator {

// Two runs of one model, node by node: ONNX Runtime and TensorRT, two precisions, two backends.
struct NodeComparison {
  Run left, right;
  const OperatorStep* left_step = nullptr;   // of the runs: what was compared
  const OperatorStep* right_step = nullptr;
  analysis::NodeMap map;
};

// Each a bundle or a run.json. Throws Error(kInput) where a run has no operators one by one.
NodeComparison compare_nodes(const std::filesystem::path& left, const std::filesystem::path& right);

std::string nodes_markdown(const NodeComparison& comparison);
std::string nodes_json(const NodeComparison& comparison);

}  // namespace nl::orchestrator
