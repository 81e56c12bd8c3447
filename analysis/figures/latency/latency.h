#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/staging/iterations.h"
#include "analysis/staging/stage_table.h"
#include "analysis/staging/windows.h"
#include "model/run.h"

namespace nl::analysis {

// How many tokens the workload was asked for, as the model's configuration has it.
struct TokenCounts {
  std::optional<std::uint64_t> batch;          // sequences
  std::optional<std::uint64_t> prompt_tokens;  // of each sequence
  std::optional<std::uint64_t> decode_tokens;  // steps of a decode window
};

// Sets the stages' tokens and returns what the iterations say about latency. Marks of the workload ("tokens
// prompt=256 batch=2") go before the configuration; where the two, or the steps that were found, contradict each
// other a note says so. Without a batch, tokens are those of one sequence, and a note says that too.
Latency derive_latency(const Trace& trace, const StageTable& table, const IterationPlan& plan, const std::vector<Window>& windows,
                       const TokenCounts& configured, std::vector<StageEntry>& stages);

}  // namespace nl::analysis
