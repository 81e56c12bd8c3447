#include "orchestrator/capture/kernels_so_far.h"

#include <fmt/format.h>

#include "analysis/figures/counters/ncu_match.h"
#include "analysis/summarise.h"
#include "collector/counters/peer_kernels.h"
#include "model/words.h"
#include "orchestrator/explain.h"

namespace nl::orchestrator {

KernelsSoFar::KernelsSoFar(const Trace& trace, const Config& config) : trace_(trace) {
  analysis::list_kernels(trace, summary_options(config), summary_);
}

std::vector<const KernelEntry*> KernelsSoFar::chosen() const {
  std::vector<const KernelEntry*> out;
  if (summary_.kernels)
    for (const auto& kernel : *summary_.kernels)
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
  for (auto& kernel : *summary_.kernels) kernel.ncu.clear();
  return analysis::match_ncu(merged(reports), trace_, summary_, meter).matched;
}

std::optional<Remark> never_counted(const KernelEntry& kernel) {
  if (kernel.time.count > 0 && kernel.graph_calls == kernel.time.count) return Remark{Code::kOnlyInGraphs};
  if (collector::talks_to_peers(kernel.symbol().c_str())) return Remark{Code::kTalksToPeers};
  return std::nullopt;
}

std::string names_of(const std::vector<const KernelEntry*>& kernels) {
  std::string text;
  for (std::size_t i = 0; i < kernels.size() && i < 5; ++i)
    text += (i > 0 ? ", " : "") + (kernels[i]->short_name.empty() ? kernels[i]->name : kernels[i]->short_name);
  return kernels.size() > 5 ? text + fmt::format(" and {} more", kernels.size() - 5) : text;
}

NcuReport merged(const std::vector<NcuReport>& reports) {
  NcuReport all;
  for (const NcuReport& report : reports) {
    if (all.page.empty()) all.page = report.page;
    all.launches.insert(all.launches.end(), report.launches.begin(), report.launches.end());
    for (const auto& [reason, rows] : report.rows_damaged) all.rows_damaged[reason] += rows;
  }
  return all;
}

}  // namespace nl::orchestrator
