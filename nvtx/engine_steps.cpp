#include "nvtx/engine_steps.h"

#include <algorithm>
#include <charconv>
#include <system_error>

namespace nl::nvtx {
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
  void skip_to(char stop) { rest_.remove_prefix(std::min(rest_.find(stop), rest_.size())); }
  // " bs=4" anywhere behind: a key is a whole word, "bs" is not in "raw_bs=4".
  std::optional<std::int64_t> value_of(std::string_view key) const {
    const std::size_t at = rest_.find(key);
    return at == std::string_view::npos ? std::nullopt : NameReader(rest_.substr(at + key.size())).number();
  }

 private:
  std::string_view rest_;
};

std::optional<std::uint64_t> count_of(std::optional<std::int64_t> number) {
  return number && *number >= 0 ? std::optional(static_cast<std::uint64_t>(*number)) : std::nullopt;
}

StepKind kind_of(bool prefills, bool decodes) {
  if (prefills && decodes) return StepKind::kMixed;
  return prefills ? StepKind::kPrefill : decodes ? StepKind::kDecode : StepKind::kIdle;
}

EngineStep step_of(std::string_view engine, std::int64_t prompts, std::int64_t sequences) {
  EngineStep step;
  step.engine = engine;
  step.kind = kind_of(prompts > 0, sequences > 0);
  step.prompts = count_of(prompts);
  step.sequences = count_of(sequences);
  return step;
}

// (512), or with detailed_trace_annotation (sq8155sk8430sqsq7475785sqsk7671310): tokens, then sums for the work of attention
std::optional<std::int64_t> vllm_tokens(NameReader& name) {
  if (!name.skip("(")) return std::nullopt;
  if (!name.skip("sq")) return name.number();
  const auto tokens = name.number();
  name.skip_to(')');
  return tokens;
}

// execute_context_2(512)_generation_6(6), execute_8192_context_9(sq8155sk…)_generation_37(sq37sk…)
std::optional<EngineStep> vllm_step(NameReader name) {
  if (name.skip("gpu_model_runner: forward")) {  // tells nothing of what it runs
    EngineStep step;
    step.engine = "vLLM";
    return step;
  }
  if (!name.skip("execute_")) return std::nullopt;
  if (name.number()) name.skip("_");
  const auto prompts = name.number_after("context_");
  const auto prompt_tokens = vllm_tokens(name);
  const auto sequences = name.number_after(")_generation_");
  const auto output_tokens = vllm_tokens(name);
  if (!prompts || !prompt_tokens || !sequences || !output_tokens) return std::nullopt;
  EngineStep step = step_of("vLLM", *prompts, *sequences);
  step.prompt_tokens = prompt_tokens;
  step.output_tokens = output_tokens;
  return step;
}

// [Executor] _forward_step 7: 1 ctx reqs, 512 ctx tokens, 31 gen reqs
std::optional<EngineStep> tensorrt_llm_step(NameReader name) {
  if (!name.skip("[Executor] _forward_step")) return std::nullopt;
  name.number_after(" ");
  const auto prompts = name.number_after(": ");
  if (!prompts || !name.skip(" ctx reqs, ")) return std::nullopt;
  auto number = name.number();
  std::optional<std::int64_t> prompt_tokens;
  if (name.skip(" ctx tokens, ")) {
    prompt_tokens = number;
    number = name.number();
  }
  if (!number || !name.skip(" gen reqs")) return std::nullopt;
  EngineStep step = step_of("TensorRT-LLM", *prompts, *number);
  step.prompt_tokens = *prompts > 0 ? prompt_tokens : 0;
  step.output_tokens = number;
  return step;
}

// step[MIXED bs=66 c=2 g=64 c_sq=2048 … g_sq=64 …]: the counts and tokens of both are there with detailed_annotations only
void read_mixed(const NameReader& name, EngineStep& step) {
  step.prompts = count_of(name.value_of(" c="));
  step.sequences = count_of(name.value_of(" g="));
  step.prompt_tokens = name.value_of(" c_sq=");
  step.output_tokens = name.value_of(" g_sq=");
}

// step[EXTEND bs=1 toks=512], step[DECODE bs=8], step[TARGET_VERIFY bs=2 g_sq=6 …]; scheduler.run_batch says nothing of what it runs.
// Other modes are parts of a step: of a draft model, or of a request that moves.
std::optional<EngineStep> sglang_step(NameReader name) {
  EngineStep step;
  step.engine = "SGLang";
  if (name.skip("scheduler.run_batch")) return step;
  if (!name.skip("step[")) return std::nullopt;
  if (name.skip("IDLE")) step.kind = StepKind::kIdle;
  else if (name.skip("EXTEND") || name.skip("SPLIT_PREFILL")) step.kind = StepKind::kPrefill;
  else if (name.skip("MIXED")) step.kind = StepKind::kMixed;
  else if (name.skip("DECODE")) step.kind = StepKind::kDecode;
  else if ((step.verifies_drafts = name.skip("TARGET_VERIFY"))) step.kind = StepKind::kDecode;
  else return std::nullopt;
  const auto requests = count_of(name.value_of(" bs="));
  if (step.kind == StepKind::kMixed) read_mixed(name, step);
  if (step.kind == StepKind::kMixed || !requests) return step;
  const bool reads = step.kind == StepKind::kPrefill, writes = step.kind == StepKind::kDecode;
  step.prompts = reads ? *requests : 0;
  step.sequences = writes ? *requests : 0;
  step.prompt_tokens = reads ? name.value_of(" toks=") : 0;
  step.output_tokens = 0;
  if (!writes) return step;
  step.output_tokens = name.value_of(" g_sq=");
  if (!step.output_tokens && !step.verifies_drafts) step.output_tokens = static_cast<std::int64_t>(*requests);
  return step;
}

}  // namespace

std::optional<std::int64_t> EngineStep::tokens() const {
  if (!kind) return std::nullopt;
  const bool reads = *kind == StepKind::kPrefill || *kind == StepKind::kMixed;
  const bool writes = *kind == StepKind::kDecode || *kind == StepKind::kMixed;
  if ((reads && !prompt_tokens) || (writes && !output_tokens)) return std::nullopt;
  return (reads ? *prompt_tokens : 0) + (writes ? *output_tokens : 0);
}

std::optional<EngineStep> engine_step(std::string_view name) {
  for (const auto read : {vllm_step, tensorrt_llm_step, sglang_step})
    if (auto step = read(NameReader(name))) return step;
  return std::nullopt;
}

}  // namespace nl::nvtx
