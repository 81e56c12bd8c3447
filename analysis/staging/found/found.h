#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/trace.h"

// Stages of a workload that marks none in the domain LLM: from names that the user maps, from the ranges of an inference
// engine, from what repeats in the trace, or the steady part of the capture as one stage.
namespace nl::analysis {

// Stage → regular expression that is searched in the names of ranges.
using StageMap = std::vector<std::pair<std::string, std::string>>;

struct FoundStage {
  Ns start_ns = 0, end_ns = 0;
  std::uint32_t thread = kNone;
  std::string name;                    // of the stage: "prefill", "decode_step", "mixed_step"
  std::optional<std::int64_t> tokens;  // that it works on, of all sequences
};

struct FoundStages {
  std::vector<FoundStage> stages;
  StageOrigin origin;
  std::vector<Remark> notes;  // what was found, or why nothing was
};

FoundStages find_stages(const Trace& trace, const StageMap& map);

// Adds the stages that were found to the trace, as ranges of kStageDomain; the trace's notes say what was found. A trace that has such
// ranges already stays as it is.
void add_found_stages(Trace& trace, const StageMap& map);

// True where the stages of the trace were found: the workload has no ranges for them that a tool could filter by.
bool has_found_stages(const Trace& trace);

}  // namespace nl::analysis
