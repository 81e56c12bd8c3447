#pragma once

#include <vector>

#include "analysis/staging/staged_trace.h"
#include "model/run.h"

namespace nl::analysis {

// Where stages of several kinds were found, the kind that takes the most time.
WorkloadVerdict workload_kind(const StagedTrace& staged, const std::vector<StageEntry>& stages);

}  // namespace nl::analysis
