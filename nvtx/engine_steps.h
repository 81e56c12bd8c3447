#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

// The names that inference engines give to the ranges around their steps. docs/engines.md lists them.
namespace nl::nvtx {

enum class StepKind : std::uint8_t {
  kIdle,     // a round of the loop with nothing to do
  kPrefill,  // reads prompts, or parts of them
  kDecode,   // writes tokens; checking drafted ones is part of it
  kMixed,    // both
};

// One step of an inference engine, as the name of its range tells it.
struct EngineStep {
  std::string_view engine;                          // "vLLM"
  std::optional<StepKind> kind;                     // empty: the name does not say
  std::optional<std::uint64_t> prompts, sequences;  // requests whose prompt it reads, and that it writes tokens of
  std::optional<std::int64_t> prompt_tokens;        // that it reads
  std::optional<std::int64_t> output_tokens;        // that it computes for the others: one each, or more where drafts are checked
  bool verifies_drafts = false;                     // its draft model has steps of its own, which are no steps of the engine

  bool told() const { return kind.has_value(); }
  std::optional<std::int64_t> tokens() const;  // of both kinds together
};

// Nothing where the name does not mark a step.
std::optional<EngineStep> engine_step(std::string_view name);

}  // namespace nl::nvtx
