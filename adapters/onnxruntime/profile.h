#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "model/session.h"

namespace nl::adapters {

// What ONNX Runtime's own profiler recorded. Its times are whole microseconds.
struct NodeProfile {
  std::vector<SessionNode> nodes;  // in the order of their first start
  std::vector<NodeRun> runs;       // start_ns counts from the profile's start
  std::uint32_t iterations = 0;    // that it has whole
};

// Throws Error(kInput) for a file that is no such profile.
NodeProfile read_node_profile(const std::filesystem::path& file);

}  // namespace nl::adapters
