#pragma once

#include <cstdint>
#include <vector>

#include "adapters/adapter.h"

namespace nl::adapters {

// One call of an operator, as LibTorch told us. Calls stand in the order in which they began.
struct RecordedCall {
  static constexpr std::uint32_t kNone = 0xffffffff;

  std::uint32_t iteration = 0;
  std::uint32_t look = 0;        // which of the looks: equal calls share one
  std::uint32_t parent = kNone;  // among the calls; kNone: no operator called it
  Ns start_ns = 0, end_ns = 0;   // CLOCK_MONOTONIC
};

// LibTorch does not say which line of the model a call came from, only its module. Two calls of different iterations are of one node where they are the
// n-th of their type below the same node. Nodes stand in the order of the last iteration: the first ones still optimise the graph.
// looks: type, shapes, types and device of calls, as name the module; a node has those of its last call and is called "blocks.0.mlp/aten::mm 2".
Executions executions_of(const std::vector<RecordedCall>& calls, const std::vector<SessionNode>& looks);

}  // namespace nl::adapters
