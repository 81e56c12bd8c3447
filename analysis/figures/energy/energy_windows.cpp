#include "analysis/figures/energy/energy.h"

namespace nl::analysis {

std::vector<StageWindows> stage_windows(const StagedTrace& staged) {
  const std::optional<std::int64_t>& utc_start_ns = staged.trace.utc_start_ns;
  if (!utc_start_ns) return {};
  const StageTable& table = staged.table;
  std::vector<StageWindows> found(table.stages().size());
  for (const Window& window : staged.windows)
    if (window.stage != kNone && !window.warmup && window.end_ns > window.start_ns)
      found[window.stage].utc_ns.emplace_back(*utc_start_ns + window.start_ns, *utc_start_ns + window.end_ns);
  for (std::size_t i = 0; i < found.size(); ++i) found[i].stage = table.stages()[i];
  std::erase_if(found, [](const StageWindows& stage) { return stage.utc_ns.empty(); });
  return found;
}

}  // namespace nl::analysis
