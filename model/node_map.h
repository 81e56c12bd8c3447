#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/operator.h"
#include "model/session.h"

namespace nl {

// How nodes of two engines that ran the same model were found to be the same, the surest first.
enum class NodeMatch : std::uint8_t {
  kName,    // they have the same name
  kHolds,   // a node of one was fused into the other, or both hold the same
  kShapes,  // the same type and the same shapes, as often on both sides, in order
  kInput,   // paired by the shape of the first input: not all backends record constants
  kOrder,   // the same type between the same neighbours, in order
};

// What both sides run of the model together: one node on each, or several where either side fuses more.
struct NodePair {
  std::vector<std::size_t> left, right;  // indices into the steps' calls
  NodeMatch match = NodeMatch::kName;
  Ns left_ns = 0, right_ns = 0;  // their times
};

struct NodeMap {
  std::vector<NodePair> pairs;  // in the left side's order
  std::vector<std::size_t> only_left, only_right;
  std::vector<Ns> left_times, right_times;  // of each call, what it calls included; a call inside another has no time of its own here
  double left_share = 0, right_share = 0;   // of each side's time, the part that is in pairs
};

// One of two runs of a model.
struct NodeSide {
  std::string run_id;
  std::optional<SessionEntry> session;  // empty: it was imported
  OperatorStep step;
};

struct NodeComparison {
  NodeSide left, right;
  NodeMap map;
};

}  // namespace nl
