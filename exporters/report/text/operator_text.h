#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/operator.h"

// The operators of a step, in order.
namespace nl::exporters::report {

// An operator that no other calls, with all that it calls.
struct OuterCall {
  const OperatorCall* call = nullptr;
  std::optional<Ns> gpu_ns;
  std::vector<OperatorKernel> kernels;  // in the order of their launches
};
std::vector<OuterCall> outer_calls(const OperatorStep& step);

// "The median of 9 decode_step windows with operators: 658 operators, 187 kernels and copies, 0.400 ms of GPU time. …"
std::string step_text(const OperatorStep& step, std::size_t shown);

// "[[1, 2], [2, 3]] of [bfloat16, bfloat16]"
std::string typed_shapes(const std::string& shapes, const std::string& dtypes);

// A step of which each operator is a node of a model file: by type, and node by node.
struct TypeTime {
  OperatorType type = OperatorType::kOther;
  std::uint64_t nodes = 0;
  Ns own_ns = 0;
  double share = 0;  // of the time of all nodes
};
std::vector<TypeTime> times_by_type(const OperatorStep& step);  // most time first

struct NodeTime {
  const OperatorCall* call = nullptr;
  Ns own_ns = 0;
  double share = 0;
  const OperatorTimes* spread = nullptr;  // of its GPU time where there is one, else of its host time; null for one that calls others
};
// In order; the `most` with the most time where there are more.
std::vector<NodeTime> times_by_node(const OperatorStep& step, std::size_t most);

// "4 of 5 iterations ran these 51 nodes with these shapes. The nodes add up to 0.401 ms of host time, 70.2 % of an iteration (0.571 ms)…"
std::string nodes_text(const OperatorStep& step, std::size_t shown);
// "One inference, node by node (onnxruntime, profile.json)"
std::string nodes_title(const OperatorStep& step);
// "p10 to p90", as far as they are known
std::string percentiles_text(const OperatorTimes* times, std::string (*text)(double ns));
// "/block/MatMul holds /a, /b": what was fused into it, where its name is another
std::string node_text(const OperatorCall& call);

}  // namespace nl::exporters::report
