#pragma once

#include <cstdint>

#include "collector/gpu/cupti_library.h"

// A kernel of a CUDA graph tells the number of its node and not where the program made it: for a graph captured from a
// stream, in the call that was captured. CUPTI tells of that as it happens, long before the graph first runs. A graph is
// cloned when it is instantiated, so the nodes that run are clones.
namespace nl::collector {

bool can_follow_graph_nodes(const CuptiLibrary& library);
bool tells_of_graph_node(std::uint32_t resource_callback);
void on_graph_node(const CuptiLibrary& library, std::uint32_t resource_callback, const cupti::ResourceData& resource);

}  // namespace nl::collector
