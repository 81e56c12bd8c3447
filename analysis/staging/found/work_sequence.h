#pragma once

#include <cstdint>
#include <vector>

#include "model/trace.h"

namespace nl::analysis {

// What a thread put on the GPU, in the order of its launches, as small numbers: equal work has equal numbers. Kernels are told by
// their names, not by their grids, which grow with the context; copies by their direction; a CUDA graph by all that it runs,
// in any order, because its streams overtake each other. Waits for the GPU stand among them.
struct WorkSequence {
  static constexpr std::uint32_t kWait = 0;
  static constexpr std::uint32_t kToHost = 1;         // a copy from the device to the host
  static constexpr std::uint32_t kLookup = 1U << 31;  // bit of work that looks up rows of a table, as an embedding does

  std::uint32_t thread = kNone;
  std::vector<std::uint32_t> symbols;
  std::vector<std::uint32_t> calls;  // index into Trace::api_calls of each

  std::size_t size() const { return symbols.size(); }
  bool looks_up_at(std::size_t at) const { return (symbols[at] & kLookup) != 0; }
  bool waits_at(std::size_t at) const { return symbols[at] <= kToHost; }
};

// One for each thread that launched anything.
std::vector<WorkSequence> work_sequences(const Trace& trace);

}  // namespace nl::analysis
