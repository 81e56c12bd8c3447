#pragma once

#include <NvInfer.h>

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "adapters/adapter.h"

namespace nl::adapters::tensorrt {

// Receives the GPU time of each layer from TensorRT's own profiler, after each launch. A layer that is reported twice in one launch
// (copies that change a format often share a name) becomes two nodes.
class LayerTimes : public nvinfer1::IProfiler {
 public:
  void reportLayerTime(const char* layer, float ms) noexcept override;
  void end_iteration();

  // layers: all of the engine, as layers_of() describes them. Nodes are in the order of the first iteration.
  Executions executions(const std::vector<SessionNode>& layers) const;

 private:
  using Key = std::pair<std::string, std::uint32_t>;  // the name, and how many of this name came before it

  std::map<Key, std::uint32_t> nodes_;
  std::vector<Key> keys_;
  std::vector<NodeRun> runs_;
  std::map<std::string, std::uint32_t> seen_;  // in the current iteration
  std::uint32_t iteration_ = 0;
};

// The engine's layers by its inspector, in its order; only their names where the engine was built without profilingVerbosity=detailed.
std::vector<SessionNode> layers_of(const nvinfer1::ICudaEngine& engine, const nvinfer1::IExecutionContext& context);

// One layer of the inspector's JSON. A text that is not a layer gives a node without a name.
SessionNode layer_of_json(const std::string& json);

}  // namespace nl::adapters::tensorrt
