#pragma once

#include <vector>

#include "analysis/staging/iterations.h"
#include "analysis/staging/stage_table.h"
#include "analysis/staging/windows.h"
#include "model/trace.h"

namespace nl::analysis {

// A trace and its stages: which ranges stand for them, the windows in which they ran, and the iterations that the windows
// form. Everything that counts by stage counts by this. The trace must outlive it.
struct StagedTrace {
  StagedTrace(const Trace& trace, const WarmupRule& warmup)
      : trace(trace), table(trace), windows(find_windows(trace, table)), plan(plan_iterations(trace, table, warmup, windows)) {}

  const Trace& trace;
  StageTable table;
  std::vector<Window> windows;  // by thread and start, those that are derived from steps among them
  IterationPlan plan;
};

}  // namespace nl::analysis
