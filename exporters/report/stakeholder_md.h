#pragma once

#include <string>

#include "model/run.h"

namespace nl::exporters {

// stakeholder_summary.md: an executive summary of at most five sentences, then Environment, Aggregates, Per-Stage
// Timings (ms), MFU, Stage Takeaways, Top Operators, Top Kernels and Recommendations, always all and in this order.
std::string stakeholder_markdown(const Run& run);

}  // namespace nl::exporters
