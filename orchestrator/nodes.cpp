#include "orchestrator/nodes.h"

#include <algorithm>
#include <utility>

#include "analysis/figures/nodes/node_map.h"
#include "model/error.h"
#include "orchestrator/bundle/read_run.h"

namespace fs = std::filesystem;

namespace nl::orchestrator {
namespace {

// The more, the better it tells nodes: GPU times, then the backend's own names.
int worth_of(const OperatorStep& step) {
  const auto any = [&](const auto& has) { return std::any_of(step.calls.begin(), step.calls.end(), has); };
  return (any([](const OperatorCall& call) { return call.gpu_ns.has_value(); }) ? 2 : 0) +
         (any([](const OperatorCall& call) { return !call.node.empty(); }) ? 1 : 0);
}

NodeSide side_of(const fs::path& bundle) {
  const fs::path file = run_json_of(bundle);
  Run run = read_run(read_run_text(file), file);
  const auto step =
      std::max_element(run.operator_steps.begin(), run.operator_steps.end(), [](const OperatorStep& a, const OperatorStep& b) {
        return std::make_pair(!a.calls.empty(), worth_of(a)) < std::make_pair(!b.calls.empty(), worth_of(b));
      });
  if (step == run.operator_steps.end() || step->calls.empty())
    throw Error(ErrorKind::kInput, "the run has no operators one by one", bundle.string(),
                "`nl-stage profile` records them, and imports of ONNX Runtime, TensorRT and Kineto profiles have them");
  return {run.run_id, std::move(run.session), std::move(*step)};
}

}  // namespace

NodeComparison compare_nodes(const fs::path& left, const fs::path& right) {
  NodeComparison comparison{side_of(left), side_of(right), {}};
  comparison.map = analysis::map_nodes(comparison.left.step, comparison.right.step);
  return comparison;
}

}  // namespace nl::orchestrator
