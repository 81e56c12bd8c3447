#pragma once

#include <cstdint>
#include <vector>

#include "analysis/staging/found/work_sequence.h"
#include "model/trace.h"

namespace nl::analysis {

// How much a stretch of a sequence puts on the GPU.
struct WorkAmount {
  std::uint32_t kernels = 0;
  std::uint32_t graphs = 0;    // traced as wholes
  std::uint32_t products = 0;  // matrix products and attention, by name; a graph may hold any number and counts as one
  std::uint32_t training = 0;  // kernels of a backward pass or of an optimizer, by name
  std::uint64_t gpu_ns = 0;
  double blocks_log2 = 0;  // means over the kernels: a few that grow with the context do not change them
  double ns_log2 = 0;
};

// Answers for any stretch of one sequence.
class WorkAmounts {
 public:
  WorkAmounts(const Trace& trace, const WorkSequence& sequence);
  std::uint64_t gpu_ns_before(std::uint32_t place) const { return sums_[place].gpu_ns; }
  WorkAmount between(std::uint32_t first, std::uint32_t last) const;  // places, last excluded

 private:
  // Sums from the start of the sequence. They may wrap; their differences do not.
  struct Sum {
    std::uint32_t kernels = 0, graphs = 0, products = 0, training = 0;
    std::uint32_t blocks = 0, times = 0;  // logarithms in sixteenths
    std::uint64_t gpu_ns = 0;
  };
  std::vector<Sum> sums_;
};

// The GPU work of prefill has more rows than that of a step of decoding: more blocks, or longer kernels.
bool has_more_rows(const WorkAmount& amount, const WorkAmount& step);

}  // namespace nl::analysis
