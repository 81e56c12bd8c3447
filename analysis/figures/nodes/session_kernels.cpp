#include "analysis/figures/nodes/session_kernels.h"

#include <algorithm>

#include "analysis/figures/operators/iteration_times.h"

namespace nl::analysis {
namespace {

bool has_gpu_times(const OperatorStep& step) {
  return std::any_of(step.calls.begin(), step.calls.end(), [](const OperatorCall& call) { return call.gpu_ns.has_value(); });
}

bool same_step(const OperatorStep& a, const OperatorStep& b) {
  return a.stage == b.stage && a.calls_left_out == b.calls_left_out && same_calls(a, b);
}

void take_gpu_times(OperatorStep& nodes, const OperatorStep& traced) {
  for (std::size_t i = 0; i < nodes.calls.size(); ++i) {
    nodes.calls[i].gpu_ns = traced.calls[i].gpu_ns;
    nodes.calls[i].gpu_times = traced.calls[i].gpu_times;
    nodes.calls[i].kernels = traced.calls[i].kernels;
  }
  nodes.gpu_outside_ns = traced.gpu_outside_ns;
}

bool has_gpu_times(const OperatorTable& table) { return table.cuda_ns.has_value(); }

}  // namespace

void add_kernels_to_nodes(const std::string& backend, OperatorFigures& figures) {
  bool joined = false;
  auto& steps = figures.operator_steps;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (steps[i].source != backend || steps[i].calls.empty() || has_gpu_times(steps[i])) continue;
    const auto traced = std::find_if(steps.begin(), steps.end(), [&](const OperatorStep& other) {
      return other.source != backend && has_gpu_times(other) && same_step(steps[i], other);
    });
    if (traced == steps.end()) continue;
    take_gpu_times(steps[i], *traced);
    if (traced < steps.begin() + static_cast<std::ptrdiff_t>(i)) --i;
    steps.erase(traced);
    joined = true;
  }
  const bool sums = std::any_of(figures.operators.begin(), figures.operators.end(),
                                [&](const OperatorTable& table) { return table.source != backend && has_gpu_times(table); });
  if (joined && sums)
    std::erase_if(figures.operators, [&](const OperatorTable& table) { return table.source == backend && !has_gpu_times(table); });
}

}  // namespace nl::analysis
