#include "analysis/nodes/session_kernels.h"

#include <algorithm>

#include "analysis/operators/iteration_times.h"

namespace nl::analysis {
namespace {

bool has_gpu_times(const OperatorStep& step) {
  return std::any_of(step.calls.begin(), step.calls.end(), [](const OperatorCall& call) { return call.gpu_ns.has_value(); });
}

bool same_step(const OperatorStep& a, const OperatorStep& b) {
  return a.stage == b.stage && a.calls_left_out == b.calls_left_out && same_calls(a, b);
}

}  // namespace

void add_kernels_to_nodes(Run& run) {
  if (!run.session) return;
  for (OperatorStep& step : run.operator_steps) {
    if (step.source != run.session->backend || step.calls.empty() || has_gpu_times(step)) continue;
    const auto traced = std::find_if(run.operator_steps.begin(), run.operator_steps.end(),
                                     [&](const OperatorStep& other) { return &other != &step && has_gpu_times(other) && same_step(step, other); });
    if (traced == run.operator_steps.end()) continue;
    for (std::size_t i = 0; i < step.calls.size(); ++i) {
      step.calls[i].gpu_ns = traced->calls[i].gpu_ns;
      step.calls[i].gpu_times = traced->calls[i].gpu_times;
      step.calls[i].kernels = traced->calls[i].kernels;
    }
    step.gpu_outside_ns = traced->gpu_outside_ns;
  }
}

}  // namespace nl::analysis
