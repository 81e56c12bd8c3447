#include "model/operator.h"

#include <algorithm>
#include <numeric>

namespace nl {

std::vector<Ns> own_times(const OperatorStep& step) {
  std::vector<Ns> times(step.calls.size());
  std::vector<std::size_t> around;  // the calls that the next one may be inside of
  for (std::size_t i = 0; i < step.calls.size(); ++i) {
    const OperatorCall& call = step.calls[i];
    while (!around.empty() && step.calls[around.back()].depth >= call.depth) around.pop_back();
    times[i] = call.gpu_ns ? *call.gpu_ns : call.host_ns.value_or(0);
    if (!around.empty() && !step.calls[around.back()].gpu_ns) times[around.back()] -= call.host_ns.value_or(0);
    around.push_back(i);
  }
  for (Ns& time : times) time = std::max<Ns>(0, time);  // bodies of a loop can run side by side
  return times;
}

Ns sum_of(const std::vector<Ns>& times) { return std::accumulate(times.begin(), times.end(), Ns{0}); }

bool has_nodes(const OperatorStep& step) {
  return std::any_of(step.calls.begin(), step.calls.end(), [](const OperatorCall& call) { return !call.node.empty(); });
}

}  // namespace nl
