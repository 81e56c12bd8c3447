#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/analyse.h"
#include "model/codes.h"
#include "model/counters.h"
#include "model/run.h"
#include "model/trace.h"

namespace nl::orchestrator {

// What the trace says of kernels while passes are still to come: which of them matter, and which have no counters yet.
class KernelsSoFar {
 public:
  KernelsSoFar(const Trace& trace, const analysis::AnalysisOptions& options);

  bool any() const { return kernels_ && !kernels_->empty(); }
  // All of the GPU's work is inside CUDA graphs that were captured at graph level: there is no kernel to choose.
  bool only_graphs() const { return kernels_ && kernels_->empty() && !trace_.graph_runs.empty(); }
  std::vector<const KernelEntry*> chosen() const;
  std::vector<const KernelEntry*> unmeasured() const;  // of the chosen
  // All that one meter has measured by now; what it gave before is forgotten. How many of the launches are of the trace.
  std::size_t join(const std::vector<NcuReport>& reports, Meter meter);

 private:
  const Trace& trace_;
  std::optional<std::vector<KernelEntry>> kernels_;
};

// "a, b and 3 more"
std::string names_of(const std::vector<const KernelEntry*>& kernels);

}  // namespace nl::orchestrator
