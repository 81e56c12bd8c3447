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
      : trace(trace), table(trace), windows(find_windows(trace, table)), plan(plan_iterations(trace, table, warmup, windows)) {
    if (trace.duty && !trace.duty->windows.empty()) forget_iterations();
  }

  const Trace& trace;
  StageTable table;
  std::vector<Window> windows;  // by thread and start, those that are derived from steps among them
  IterationPlan plan;

 private:
  // Of single steps that were traced: warm-up is left out already, and what lies between two of them is not one iteration.
  void forget_iterations() {
    std::erase_if(windows, [](const Window& window) { return window.derived; });
    for (Window& window : windows) window.iteration = kNone, window.warmup = false;
    plan.spans.clear();
    plan.rule = "single steps were traced (capture.duty): warm-up is left out of them, and iterations are not told";
  }
};

}  // namespace nl::analysis
