#pragma once

#include "analysis/runs/compare/run_lines.h"

// What is inside stages: bins of the budget, operators, layers, host code; and what is about the whole capture: CUDA calls, counters.
// Tested only where the stage around it changed, else it has its medians alone.
namespace nl::analysis {

CompareSection budget_lines(const Sides& sides, const Judge& judge, const RunLines& run);
CompareSection operator_lines(const Sides& sides, const Judge& judge, const RunLines& run);
CompareSection layer_lines(const Sides& sides, const Judge& judge, const RunLines& run);
CompareSection host_lines(const Sides& sides, const Judge& judge, const RunLines& run);
CompareSection api_lines(const Sides& sides, const Judge& judge, const RunLines& run);

}  // namespace nl::analysis
