#include "analysis/trace/clock_fit.h"

namespace nl::analysis {

void fill_clock(const Trace& trace, Run& run) {
  run.clock = {};
  if (!trace.clock) return;
  run.clock.error_ns = trace.clock->error_ns();
  run.clock.launch_slack_ns = trace.clock->launch_slack_ns;
  run.clock.wait_slack_ns = trace.clock->wait_slack_ns;
  run.clock.contradictions = trace.clock->contradictions;
  for (const StageEntry& stage : run.stages) {
    if (stage.wall.count == 0 || stage.wall.median_ns <= 0) continue;
    if (run.clock.shortest_stage_ns && stage.wall.median_ns >= *run.clock.shortest_stage_ns) continue;
    run.clock.shortest_stage = stage.name;
    run.clock.shortest_stage_ns = stage.wall.median_ns;
  }
  if (!run.clock.error_ns || !run.clock.shortest_stage_ns) return;
  run.clock.share_of_shortest_stage = static_cast<double>(*run.clock.error_ns) / *run.clock.shortest_stage_ns;
}

}  // namespace nl::analysis
