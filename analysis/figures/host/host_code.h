#pragma once

#include <optional>
#include <vector>

#include "analysis/account/budget.h"
#include "analysis/staging/windows.h"
#include "model/run.h"

namespace nl::analysis {

struct HostFigures {
  std::vector<std::optional<HostCode>> stages;  // StageEntry::host_code of each
  std::vector<std::vector<StageGap>> gaps;      // StageEntry::gaps of each
  std::optional<HostStacks> stacks;             // Run::host
  std::optional<Remark> note;                   // on stages with few samples
};

// What the host did while the GPU waited for launches and in its other gaps. The stages are those of the table in its order, and the
// budgets' first targets.
HostFigures host_figures(const Trace& trace, const std::vector<Window>& windows, const BudgetSums& budgets,
                         const std::vector<StageEntry>& stages);

}  // namespace nl::analysis
