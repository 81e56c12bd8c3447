#include "model/working_kernels.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>

namespace nl {
namespace {

// Until format 3.2 a file tells only each stage's launches. One in a stage within another counts in both: only the outermost are
// added up.
std::set<std::string> outermost_stages(const std::vector<KernelEntry>& kernels) {
  std::set<std::string> names;
  for (const KernelEntry& kernel : kernels)
    for (const StageSplit& split : kernel.stages) names.insert(split.stage);
  return names;
}

WorkingKernel measured_part(const std::vector<KernelEntry>& kernels, std::size_t index, const std::set<std::string>& outermost) {
  const KernelEntry& kernel = kernels[index];
  if (kernel.measured_ns && kernel.measured_calls) return {index, *kernel.measured_ns, *kernel.measured_calls, 0};
  WorkingKernel out{index, 0, 0, 0};
  const auto counts = [&](const StageLaunches& launches) { return outermost.contains(launches.stage); };
  const bool any = std::any_of(kernel.measured.begin(), kernel.measured.end(), counts);
  for (const StageLaunches& launches : kernel.measured) {
    if (any && !counts(launches)) continue;
    out.time_ns += launches.total_ns;
    out.calls += launches.calls;
  }
  // A stage that is the outermost here may lie within another there.
  out.time_ns = std::min(out.time_ns, kernel.time.total_ns);
  out.calls = std::min(out.calls, kernel.time.count);
  return out;
}

// Graphs captured without their kernels are a part of gpu_share's whole; how much of them is measured is not known.
void share_out(const Run& run, std::vector<WorkingKernel>& list) {
  const bool graphs = run.coverage.graph_only_share.value_or(0) > 0;
  std::map<std::int32_t, Ns> of_gpu;
  for (const WorkingKernel& each : list) of_gpu[(*run.kernels)[each.index].device] += each.time_ns;
  for (WorkingKernel& each : list) {
    const KernelEntry& kernel = (*run.kernels)[each.index];
    const Ns all_ns = of_gpu[kernel.device];
    each.measured_share = graphs || all_ns <= 0 ? kernel.gpu_share : static_cast<double>(each.time_ns) / static_cast<double>(all_ns);
  }
}

WorkingKernels all_kernels(const std::vector<KernelEntry>& kernels) {
  WorkingKernels out;
  for (std::size_t i = 0; i < kernels.size(); ++i)
    out.list.push_back({i, kernels[i].time.total_ns, kernels[i].time.count, kernels[i].gpu_share});
  return out;
}

}  // namespace

WorkingKernels working_kernels(const Run& run) {
  if (!run.kernels) return {};
  const std::vector<KernelEntry>& kernels = *run.kernels;
  if (std::all_of(kernels.begin(), kernels.end(), [](const KernelEntry& kernel) { return kernel.measured.empty(); }))
    return all_kernels(kernels);
  const auto outermost = outermost_stages(kernels);
  WorkingKernels out;
  out.measured = true;
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    if (kernels[i].measured.empty()) {
      ++out.left_out;
      out.left_out_ns += kernels[i].time.total_ns;
    } else {
      out.list.push_back(measured_part(kernels, i, outermost));
    }
  }
  std::stable_sort(out.list.begin(), out.list.end(), [](const WorkingKernel& a, const WorkingKernel& b) { return a.time_ns > b.time_ns; });
  share_out(run, out.list);
  return out;
}

}  // namespace nl
