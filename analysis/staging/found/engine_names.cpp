#include <charconv>

#include "analysis/staging/found/engines.h"

namespace nl::analysis {
namespace {

// Reads a name from left to right; the first thing that is not there ends it.
class NameReader {
 public:
  explicit NameReader(std::string_view name) : rest_(name) {}
  bool skip(std::string_view text) {
    if (!rest_.starts_with(text)) return false;
    rest_.remove_prefix(text.size());
    return true;
  }
  std::optional<std::int64_t> number() {
    std::int64_t value = 0;
    const auto [end, failed] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (failed != std::errc()) return std::nullopt;
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    return value;
  }
  std::optional<std::int64_t> number_after(std::string_view text) { return skip(text) ? number() : std::nullopt; }
  std::optional<std::int64_t> value_of(std::string_view key) const {  // "bs=4" anywhere behind
    const std::size_t at = rest_.find(key);
    return at == std::string_view::npos ? std::nullopt : NameReader(rest_.substr(at + key.size())).number();
  }

 private:
  std::string_view rest_;
};

EngineStep step_of(std::string_view engine, std::int64_t contexts, std::int64_t generations) {
  EngineStep step;
  step.engine = engine;
  step.prefills = contexts > 0;
  step.decodes = generations > 0;
  return step;
}

// execute_context_2(512)_generation_6(6)
std::optional<EngineStep> vllm_step(NameReader name) {
  const auto contexts = name.number_after("execute_context_");
  const auto context_tokens = name.number_after("(");
  const auto generations = name.number_after(")_generation_");
  const auto generation_tokens = name.number_after("(");
  if (!contexts || !context_tokens || !generations || !generation_tokens) return std::nullopt;
  EngineStep step = step_of("vLLM", *contexts, *generations);
  step.context_tokens = context_tokens;
  step.generation_tokens = generation_tokens;
  return step;
}

// [Executor] _forward_step 7: 1 ctx reqs, 512 ctx tokens, 31 gen reqs
std::optional<EngineStep> tensorrt_llm_step(NameReader name) {
  if (!name.skip("[Executor] _forward_step")) return std::nullopt;
  name.number_after(" ");
  const auto contexts = name.number_after(": ");
  if (!contexts || !name.skip(" ctx reqs, ")) return std::nullopt;
  auto number = name.number();
  std::optional<std::int64_t> context_tokens;
  if (name.skip(" ctx tokens, ")) {
    context_tokens = number;
    number = name.number();
  }
  if (!number || !name.skip(" gen reqs")) return std::nullopt;
  EngineStep step = step_of("TensorRT-LLM", *contexts, *number);
  step.context_tokens = *contexts > 0 ? context_tokens : 0;
  step.generation_tokens = number;
  return step;
}

// step[EXTEND bs=1 toks=512], step[DECODE bs=8], step[MIXED …]; scheduler.run_batch says nothing of what it runs
std::optional<EngineStep> sglang_step(NameReader name) {
  EngineStep step;
  step.engine = "SGLang";
  if (name.skip("scheduler.run_batch")) return step;
  if (!name.skip("step[")) return std::nullopt;
  const bool extends = name.skip("EXTEND"), decodes = !extends && name.skip("DECODE"), mixed = !extends && !decodes && name.skip("MIXED");
  if (!extends && !decodes && !mixed) return std::nullopt;
  step.prefills = extends || mixed;
  step.decodes = decodes || mixed;
  if (extends) step.context_tokens = name.value_of("toks=");
  if (decodes) step.generation_tokens = name.value_of("bs=");
  return step;
}

}  // namespace

std::optional<EngineStep> engine_step(std::string_view name) {
  for (const auto read : {vllm_step, tensorrt_llm_step, sglang_step})
    if (auto step = read(NameReader(name))) return step;
  return std::nullopt;
}

}  // namespace nl::analysis
