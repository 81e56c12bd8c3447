#pragma once

#include "analysis/runs/compare/run_lines.h"

// The parts of a comparison beside the lines of runs and stages.
namespace nl::analysis {

// Whether the sides have in common what they should: machine, model, workload and the way of measuring.
// has_stages: some run had one before it was taken as a whole capture.
Comparability comparability_of(const Sides& sides, const CompareOptions& options, bool has_stages);

// What is inside stages: bins of the budget, operators, layers, host code; and what is about the whole capture: CUDA calls, counters.
// Tested only where the stage around it changed, else it has its medians alone.
CompareSection budget_lines(const Sides& sides, const Judge& judge, const RunLines& run);
CompareSection operator_lines(const Sides& sides, const Judge& judge, const RunLines& run);
CompareSection layer_lines(const Sides& sides, const Judge& judge, const RunLines& run);
CompareSection host_lines(const Sides& sides, const Judge& judge, const RunLines& run);
CompareSection api_lines(const Sides& sides, const Judge& judge, const RunLines& run);

// What was sampled over time while a stage ran (nsys' GPU metrics, or the collector's).
CompareSection sampled_lines(const Sides& sides, const Judge& judge, const RunLines& run);
// What was counted: of stages by CUPTI, of kernels by ncu or CUPTI, under the kernel's name.
CompareSection counted_lines(const Sides& sides, const Judge& judge, const RunLines& run);

class StagePairs;

// The kernels of every stage that both sides have, paired.
class KernelComparison {
 public:
  explicit KernelComparison(const Sides& sides);
  ~KernelComparison();

  // By stage: the probability that chance alone causes the differences of its kernels, by Simes' test.
  std::map<std::string, double> p_values(const Judge& judge) const;
  // Tests the times of the kernels of all stages that changed, together. Call it once.
  std::vector<StageKernels> decide(const Judge& judge, const RunLines& run);

 private:
  std::vector<StagePairs> stages_;
};

}  // namespace nl::analysis
