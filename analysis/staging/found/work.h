#pragma once

#include <cstdint>
#include <vector>

#include "model/trace.h"

namespace nl::analysis {

// What a thread put on the GPU, in the order of its launches, as small numbers: equal work has equal numbers. Kernels are equal
// by name, not by grid, which grows with the context; copies by direction; CUDA graphs by all that they run, in any order, because
// their streams overtake each other. Waits for the GPU are in the sequence, too.
struct WorkSequence {
  static constexpr std::uint32_t kWait = 0;
  static constexpr std::uint32_t kToHost = 1;         // a copy from the device to the host
  static constexpr std::uint32_t kLookup = 1U << 31;  // bit of work that looks up rows of a table, as an embedding does
  static constexpr std::uint32_t kChoice = 1U << 30;  // bit of work that chooses among many, as sampling chooses a token

  std::uint32_t thread = kNone;
  std::vector<std::uint32_t> symbols;
  std::vector<std::uint32_t> calls;  // index into Trace::api_calls of each

  std::size_t size() const { return symbols.size(); }
  bool looks_up_at(std::size_t at) const { return (symbols[at] & kLookup) != 0; }
  bool chooses_at(std::size_t at) const { return (symbols[at] & kChoice) != 0; }
  bool waits_at(std::size_t at) const { return (symbols[at] & ~(kLookup | kChoice)) <= kToHost; }
};

// One for each thread that launched anything.
std::vector<WorkSequence> work_sequences(const Trace& trace);

// How much a stretch of a sequence puts on the GPU.
struct WorkAmount {
  std::uint32_t kernels = 0;
  std::uint32_t graphs = 0;    // captured at graph level
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
  // Sums from the start of the sequence. They may overflow; their differences are still right.
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
