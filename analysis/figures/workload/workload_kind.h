#pragma once

#include <string>
#include <vector>

#include "analysis/figures/latency/token_timeline.h"
#include "analysis/staging/staged_trace.h"
#include "model/codes.h"
#include "model/run.h"

namespace nl::analysis {

// What kind of program it is, how sure that is, and the stage whose windows are its units of work. Where stages of several kinds were
// found, the kind that takes the most time.
struct WorkloadVerdict {
  WorkloadKind kind = WorkloadKind::kUnknown;
  double confidence = 0;
  std::vector<Remark> witnesses;
  std::string unit_stage;
};

WorkloadVerdict workload_kind(const StagedTrace& staged, const std::vector<StageEntry>& stages, const TokenCounts& configured);

}  // namespace nl::analysis
