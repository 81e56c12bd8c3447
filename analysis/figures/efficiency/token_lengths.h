#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/figures/efficiency/llm_shape.h"
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

}  // namespace nl::analysis
