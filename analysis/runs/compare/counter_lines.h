#pragma once

#include "analysis/runs/compare/run_lines.h"

namespace nl::analysis {

// What was sampled over time while a stage ran (nsys' GPU metrics, or the collector's).
CompareSection sampled_lines(const Sides& sides, const Judge& judge, const RunLines& run);
// What was counted: of stages by CUPTI, of kernels by ncu or CUPTI, under the kernel's name.
CompareSection counted_lines(const Sides& sides, const Judge& judge, const RunLines& run);

}  // namespace nl::analysis
