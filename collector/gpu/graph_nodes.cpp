#include "collector/gpu/graph_nodes.h"

#include "collector/nvtx/recorder.h"

namespace nl::collector {
namespace {

// 0: CUPTI does not know it.
std::uint64_t number_of(const CuptiLibrary& library, void* node) {
  std::uint64_t number = 0;
  return node != nullptr && library.api.cuptiGetGraphNodeId(node, &number) == cupti::kSuccess ? number : 0;
}

}  // namespace

bool can_follow_graph_nodes(const CuptiLibrary& library) { return library.api.cuptiGetGraphNodeId != nullptr; }

bool tells_of_graph_node(std::uint32_t resource_callback) {
  return resource_callback == cupti::kGraphNodeCreated || resource_callback == cupti::kGraphNodeCloned;
}

void on_graph_node(const CuptiLibrary& library, std::uint32_t resource_callback, const cupti::ResourceData& resource) {
  if (resource.descriptor == nullptr) return;
  const auto& graph = *static_cast<const cupti::GraphData*>(resource.descriptor);
  const bool cloned = resource_callback == cupti::kGraphNodeCloned;
  const std::uint64_t node = number_of(library, graph.node), original = cloned ? number_of(library, graph.original_node) : 0;
  // A clone of something unknown must not pass for what was made here.
  if (node != 0 && (!cloned || original != 0)) record_graph_node(node, original);
}

}  // namespace nl::collector
