#pragma once

#include <optional>
#include <vector>

#include "analysis/account/launch_waits.h"
#include "analysis/staging/windows.h"
#include "model/run.h"

namespace nl::analysis {

struct HostFigures {
  std::vector<std::optional<HostCode>> stages;  // StageEntry::host_code of each
  std::optional<HostStacks> stacks;             // Run::host
  std::optional<Remark> note;                   // on stages with few samples
};

// What the host did while the GPU waited for launches. The stages are those of the table in its order; `hits` by stage; empty:
// the host was not sampled.
HostFigures host_figures(const Trace& trace, const std::vector<Window>& windows, const std::vector<HostHits>& hits,
                         const std::vector<StageEntry>& stages);

}  // namespace nl::analysis
