#include "adapters/tensorrt/layer_times.h"

#include <cmath>

namespace nl::adapters::tensorrt {

void LayerTimes::reportLayerTime(const char* layer, float ms) noexcept {
  const Key key(layer, seen_[layer]++);
  const auto [found, added] = nodes_.try_emplace(key, static_cast<std::uint32_t>(keys_.size()));
  if (added) keys_.push_back(key);
  NodeRun run;
  run.iteration = iteration_;
  run.node = found->second;
  run.gpu_ns = ms > 0 ? std::llround(static_cast<double>(ms) * 1e6) : 0;
  runs_.push_back(run);
}

void LayerTimes::end_iteration() {
  seen_.clear();
  ++iteration_;
}

Executions LayerTimes::executions(const std::vector<SessionNode>& layers) const {
  std::map<Key, const SessionNode*> described;
  std::map<std::string, std::uint32_t> seen;
  for (const SessionNode& layer : layers) described[{layer.name, seen[layer.name]++}] = &layer;

  Executions done;
  done.host_times_known = false;
  done.runs = runs_;
  for (const Key& key : keys_) {
    const auto found = described.find(key);
    SessionNode node;
    if (found != described.end()) node = *found->second;
    node.name = key.first;
    done.nodes.push_back(std::move(node));
  }
  return done;
}

}  // namespace nl::adapters::tensorrt
