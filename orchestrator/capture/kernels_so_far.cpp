#include "orchestrator/capture/kernels_so_far.h"

#include <fmt/format.h>

#include "analysis/figures/counters/join_counters.h"
#include "analysis/figures/counters/ncu_match.h"

namespace nl::orchestrator {

KernelsSoFar::KernelsSoFar(const Trace& trace, const analysis::AnalysisOptions& options)
    : trace_(trace), kernels_(analysis::list_kernels(analysis::StagedTrace(trace, options.warmup), options.kernels)) {}

std::vector<const KernelEntry*> KernelsSoFar::chosen() const {
  std::vector<const KernelEntry*> out;
  if (kernels_)
    for (const auto& kernel : *kernels_)
      if (kernel.selected) out.push_back(&kernel);
  return out;
}

std::vector<const KernelEntry*> KernelsSoFar::unmeasured() const {
  auto missing = chosen();
  std::erase_if(missing, [](const KernelEntry* kernel) { return !kernel->ncu.empty(); });
  return missing;
}

std::size_t KernelsSoFar::join(const std::vector<NcuReport>& reports, Meter meter) {
  if (!any() || reports.empty()) return 0;
  for (auto& kernel : *kernels_) kernel.ncu.clear();
  return analysis::match_ncu(analysis::merged(reports), trace_, *kernels_, meter).matched;
}

std::string names_of(const std::vector<const KernelEntry*>& kernels) {
  std::string text;
  for (std::size_t i = 0; i < kernels.size() && i < 5; ++i)
    text += (i > 0 ? ", " : "") + (kernels[i]->short_name.empty() ? kernels[i]->name : kernels[i]->short_name);
  return kernels.size() > 5 ? text + fmt::format(" and {} more", kernels.size() - 5) : text;
}

}  // namespace nl::orchestrator
