#include "orchestrator/nodes.h"

#include <algorithm>
#include <utility>

#include "analysis/figures/nodes/node_map.h"
#include "model/error.h"

namespace nl::orchestrator {
namespace {

// The more, the better it tells nodes: GPU times, then the backend's own names.
int worth_of(const OperatorStep& step) {
  const auto any = [&](const auto& has) { return std::any_of(step.calls.begin(), step.calls.end(), has); };
  return (any([](const OperatorCall& call) { return call.gpu_ns.has_value(); }) ? 2 : 0) +
         (any([](const OperatorCall& call) { return !call.node.empty(); }) ? 1 : 0);
}

NodeSide side_of(Run run) {
  const auto step =
      std::max_element(run.operator_steps.begin(), run.operator_steps.end(), [](const OperatorStep& a, const OperatorStep& b) {
        return std::make_pair(!a.calls.empty(), worth_of(a)) < std::make_pair(!b.calls.empty(), worth_of(b));
      });
  if (step == run.operator_steps.end() || step->calls.empty())
    throw Error(ErrorKind::kInput, "the run has no operators one by one", run.run_id,
                "`nl-stage profile` records them, and imports of ONNX Runtime, TensorRT and Kineto profiles have them");
  return {run.run_id, std::move(run.session), std::move(*step)};
}

}  // namespace

NodeComparison compare_nodes(Run left, Run right) {
  NodeComparison comparison{side_of(std::move(left)), side_of(std::move(right)), {}};
  comparison.map = analysis::map_nodes(comparison.left.step, comparison.right.step);
  return comparison;
}

}  // namespace nl::orchestrator
