#pragma once

#include "model/run.h"

namespace nl::analysis {

// Of a run whose findings, overhead and energy are known.
RunSummary run_summary(const Run& run);

}  // namespace nl::analysis
