#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "analysis/staging/found/found.h"

namespace nl::analysis {

// One step of an inference engine, as the name of its range tells it.
struct EngineStep {
  std::string_view engine;  // "vLLM"
  std::optional<std::int64_t> context_tokens, generation_tokens;
  std::optional<bool> prefills, decodes;  // empty: the name does not say

  bool told() const { return prefills && decodes; }
};

// Nothing where the name is no step's.
std::optional<EngineStep> engine_step(std::string_view name);

// The steps of the engine with the most ranges; nothing where no engine's ranges are there. Where names do not tell prefill from
// decoding, the GPU work of the steps does.
FoundStages stages_of_engine(const Trace& trace);

// The ranges that the map names; the first pattern that a name matches decides.
FoundStages stages_of_map(const Trace& trace, const StageMap& map);

}  // namespace nl::analysis
