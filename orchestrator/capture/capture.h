#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "model/codes.h"
#include "model/counters.h"
#include "model/evidence.h"
#include "model/run.h"
#include "model/trace.h"
#include "orchestrator/capture/pass_runner.h"

namespace nl::orchestrator {

// What the passes of a plan left behind. Trace and counters are read as they come, because later passes depend on them.
struct Capture {
  std::filesystem::path nsys_sqlite;  // empty: none
  std::vector<std::filesystem::path> collector_files;
  std::optional<int> workload_exit;
  bool cut_short = false;  // the trace grew too large, and the workload was ended
  Trace trace;
  std::optional<std::int64_t> traced_at_ns;  // UTC, when the pass that traces was started
  std::vector<PowerSample> power;            // while it was traced
  std::optional<Trace> operators;            // of the operator pass
  Repeats repeats;
  Calibration calibration;
  std::vector<NcuReport> ncu;              // one a try
  std::vector<CounterReport> counters;     // one a pass
  std::optional<Remark> counters_missing;  // why a chosen kernel has none
  std::vector<PassRecord> passes;
  std::size_t workload_starts = 0;   // that were planned
  std::optional<double> expected_s;  // how long all of them take, judged by the first
  std::vector<Remark> adaptations;   // the plan's, and what came up on the way
  bool any() const { return !nsys_sqlite.empty() || !collector_files.empty(); }
};

// Runs the plan: the pass that traces, the passes around it that measure its overhead, then those that count the kernels that the
// trace ranks first. Trouble goes to the runner's verdict; what there is by then is kept. With a runner that starts
// nothing the capture is empty.
Capture execute(const Plan& plan, Runner& runner);

}  // namespace nl::orchestrator
