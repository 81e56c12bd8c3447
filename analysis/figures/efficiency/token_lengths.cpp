#include "analysis/figures/efficiency/token_lengths.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "model/headline.h"

namespace nl::analysis {
namespace {

std::optional<double> steps_in_trace(const Run& run) {
  const StageEntry* steps = stage_named(run, "decode_step");
  if (!steps || steps->wall.count == 0) return std::nullopt;
  const auto count = static_cast<double>(steps->wall.count);
  if (const StageEntry* decode = stage_named(run, "decode"); decode && decode->wall.count > 0)
    return count / static_cast<double>(decode->wall.count);
  const std::uint64_t measured = run.iterations.count - std::min(run.iterations.count, run.iterations.warmup);
  return measured > 0 ? std::optional(count / static_cast<double>(measured)) : std::nullopt;
}

void take_steps(const Run& run, const LlmShape& shape, TokenLengths& lengths) {
  lengths.steps = steps_in_trace(run);
  if (!lengths.steps) {
    lengths.steps = shape.decode_tokens;
    if (lengths.steps) lengths.assumptions.push_back("the number of steps is model.decode_tokens; the trace has no decode_step ranges");
    return;
  }
  if (*lengths.steps != std::floor(*lengths.steps))
    lengths.assumptions.push_back(fmt::format("decode windows differ in length: {:.4g} steps on average", *lengths.steps));
  // The first token comes out of the prefill: n tokens are n or n - 1 steps.
  if (shape.decode_tokens && *shape.decode_tokens != *lengths.steps && *shape.decode_tokens - 1 != *lengths.steps)
    lengths.assumptions.push_back(
        fmt::format("the model file contradicts the trace: model.decode_tokens is {:g}, the trace has {:.4g} steps per "
                    "decode; the trace's number is used",
                    *shape.decode_tokens, *lengths.steps));
}

void take_prompt(const Run& run, const LlmShape& shape, TokenLengths& lengths) {
  lengths.prompt = shape.prompt_tokens;
  const StageEntry* prefill = stage_named(run, "prefill");
  if (!prefill || !prefill->tokens_per_window || !lengths.batch || *prefill->tokens_per_window <= 0) return;
  const double traced = *prefill->tokens_per_window / *lengths.batch;
  if (lengths.prompt && std::abs(traced - *lengths.prompt) > 0.5)
    lengths.assumptions.push_back(
        fmt::format("the model file contradicts the trace: model.prompt_tokens is {:g}, prefill has {:g} tokens at "
                    "batch {:g}; the trace's number is used",
                    *lengths.prompt, traced, *lengths.batch));
  lengths.prompt = traced;
}

}  // namespace

TokenLengths token_lengths(const Run& run, const LlmShape& shape) {
  TokenLengths lengths;
  lengths.batch = run.latency.batch ? run.latency.batch : shape.batch_size;
  take_prompt(run, shape, lengths);
  take_steps(run, shape, lengths);
  return lengths;
}

}  // namespace nl::analysis
