#include "analysis/trace/clock_fit.h"

namespace nl::analysis {

ClockFit clock_fit(const Trace& trace, const std::vector<StageEntry>& stages) {
  ClockFit fit;
  if (!trace.clock) return fit;
  fit.error_ns = trace.clock->error_ns();
  fit.launch_slack_ns = trace.clock->launch_slack_ns;
  fit.wait_slack_ns = trace.clock->wait_slack_ns;
  fit.contradictions = trace.clock->contradictions;
  for (const StageEntry& stage : stages) {
    if (stage.wall.count == 0 || stage.wall.median_ns <= 0) continue;
    if (fit.shortest_stage_ns && stage.wall.median_ns >= *fit.shortest_stage_ns) continue;
    fit.shortest_stage = stage.name;
    fit.shortest_stage_ns = stage.wall.median_ns;
  }
  if (fit.error_ns && fit.shortest_stage_ns) fit.share_of_shortest_stage = static_cast<double>(*fit.error_ns) / *fit.shortest_stage_ns;
  return fit;
}

}  // namespace nl::analysis
