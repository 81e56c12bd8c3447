#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/staging/found/steps.h"
#include "analysis/staging/found/work_amount.h"

namespace nl::analysis {

// What a thread's steps are, by how much they do: decoding, where a larger prefill comes before each run of equal steps.
struct Generation {
  struct Step {
    std::uint32_t first = 0, last = 0;  // places in the sequence, last excluded
    bool prefill = false;
    bool ends_run = false;  // what follows is no step of the same request
  };
  std::vector<Step> steps;
  std::size_t decode_steps = 0, prefills = 0, runs = 0;
  std::size_t prefilled_runs = 0;  // runs that a prefill comes before
  std::uint64_t training_kernels = 0;
  std::uint32_t products = 0;  // of a typical step, see WorkAmount
  bool looks_up = false;       // a typical step looks up embeddings, or runs a graph that may
};

Generation find_generation(const Trace& trace, const WorkSequence& sequence, const WorkAmounts& amounts, const StepCut& cut);

}  // namespace nl::analysis
