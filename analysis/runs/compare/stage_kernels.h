#pragma once

#include "analysis/runs/compare/kernel_pairs.h"
#include "analysis/runs/compare/run_lines.h"

namespace nl::analysis {

class StagePairs;

// The kernels of every stage that both sides have, paired.
class KernelComparison {
 public:
  explicit KernelComparison(const Sides& sides);
  ~KernelComparison();

  // Of each stage: how likely chance gives the differences of its kernels, by Simes' test.
  std::map<std::string, double> p_values(const Judge& judge) const;
  // Their times are tested where the stage changed: all kernels of such stages together. Once.
  std::vector<StageKernels> decide(const Judge& judge, const RunLines& run);

 private:
  std::vector<StagePairs> stages_;
};

}  // namespace nl::analysis
