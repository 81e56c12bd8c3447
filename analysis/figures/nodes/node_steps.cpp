#include "analysis/figures/nodes/node_steps.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "analysis/figures/nodes/session_records.h"
#include "analysis/figures/operators/types.h"
#include "analysis/figures/operators/work_rows.h"

namespace nl::analysis {
namespace {

// Where a node ran: its range, and the call that stands for it, begin at that time.
using Starts = std::map<Ns, std::size_t>;  // → call of the step

Starts starts_of(const ModelSession& session, const OperatorStep& step) {
  std::map<std::tuple<std::string_view, std::string_view, std::optional<std::uint64_t>>, std::size_t> calls;
  for (std::size_t i = 0; i < step.calls.size(); ++i)
    calls.emplace(std::tuple(std::string_view(step.calls[i].node), std::string_view(step.calls[i].name), step.calls[i].node_index), i);
  Starts starts;
  for (const NodeRun& run : session.runs) {
    if (run.iteration != step.window || run.node >= session.nodes.size()) continue;
    const SessionNode& node = session.nodes[run.node];
    if (const auto call = calls.find({node.name, node.type, node.index}); call != calls.end()) starts[run.start_ns] = call->second;
  }
  return starts;
}

void add_kernel(const std::string& name, Ns duration_ns, OperatorCall& call) {
  const auto same =
      std::find_if(call.kernels.begin(), call.kernels.end(), [&](const OperatorKernel& kernel) { return kernel.name == name; });
  OperatorKernel& kernel = same != call.kernels.end() ? *same : call.kernels.emplace_back(OperatorKernel{name, 0, 0});
  ++kernel.calls;
  kernel.total_ns += duration_ns;
}

void add_kernels(const Trace& trace, OperatorStep& step) {
  const Starts starts = starts_of(*trace.session, step);
  visit_work(trace, [&](const WorkRow& row) {
    const auto start = row.launch.thread == kNone ? starts.end() : starts.find(row.launch.start_ns);
    if (start != starts.end()) add_kernel(name_of_work(trace, row.name), row.duration_ns, step.calls[start->second]);
  });
  for (OperatorCall& call : step.calls) {
    std::stable_sort(call.kernels.begin(), call.kernels.end(),
                     [](const OperatorKernel& a, const OperatorKernel& b) { return a.total_ns > b.total_ns; });
    call.type = type_of_call(call);
  }
}

}  // namespace

std::vector<OperatorStep> node_steps(const Trace& trace) {
  std::vector<OperatorStep> steps = steps_of(*trace.session);
  if (trace.has_kernel_data || trace.has_mem_data)
    for (OperatorStep& step : steps) add_kernels(trace, step);
  return steps;
}

}  // namespace nl::analysis
