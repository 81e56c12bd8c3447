#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/figures/efficiency/llm_shape.h"
#include "model/efficiency.h"
#include "model/run.h"

namespace nl::analysis {

// How much the stages were given: what the trace says and what the model file states, and which of the two is taken.
struct TokenLengths {
  std::optional<double> batch;   // sequences
  std::optional<double> prompt;  // tokens of each
  std::optional<double> steps;   // of one decode
  std::vector<std::string> assumptions;
};

TokenLengths token_lengths(const Run& run, const LlmShape& shape);

struct Efficiency {
  std::optional<DevicePeaks> peaks;  // of the first GPU with kernels
  std::vector<StageEfficiency> stages;
};

// From a run's stages and their budgets, its hardware and its model's attributes: for every stage the work of one
// window term by term, and how near to the GPU's peaks it was done. Where something is not known, the stage's note says what, and
// what would make it known.
Efficiency efficiency_of(const Run& run, const std::vector<DeviceTableEntry>& table);

}  // namespace nl::analysis
