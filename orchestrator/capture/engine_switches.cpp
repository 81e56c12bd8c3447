#include "orchestrator/capture/engine_switches.h"

#include <string>
#include <string_view>
#include <vector>

#include "orchestrator/config/choices.h"

namespace nl::orchestrator {
namespace {

struct EngineSwitch {
  EngineMarks engine;
  std::string_view variable;
};

// As their public sources of August 2026 read them. TensorRT-LLM's and Dynamo's names of steps need none of these.
constexpr EngineSwitch kSwitches[] = {
    {EngineMarks::kVllm, "VLLM_NVTX_SCOPES_FOR_PROFILING"},
    {EngineMarks::kSglang, "SGLANG_ENABLE_NVTX_SCHEDULER"},
    {EngineMarks::kTensorrtLlm, "TLLM_LLMAPI_ENABLE_NVTX"},
    {EngineMarks::kDynamo, "DYN_ENABLE_RUST_NVTX"},
    {EngineMarks::kDynamo, "DYN_NVTX"},
};

// Dynamo's workers are one of the other engines.
std::vector<std::string> switches_of(const Config& config) {
  const auto engine = choice<EngineMarks>(config.mark.engine);
  const bool all = engine == EngineMarks::kAuto || engine == EngineMarks::kDynamo;
  std::vector<std::string> variables;
  for (const EngineSwitch& each : kSwitches)
    if ((all || each.engine == engine) && !config.workload.env.contains(std::string(each.variable))) variables.emplace_back(each.variable);
  return variables;
}

bool switched_on(const Config& config) { return config.mark.automatic && choice<EngineMarks>(config.mark.engine) != EngineMarks::kOff; }

std::string joined(const std::vector<std::string>& words, std::string_view between, std::string_view after_each) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : std::string(between)) + word + std::string(after_each);
  return text;
}

}  // namespace

void switch_engine_on(Pass& pass, const Config& config) {
  if (!switched_on(config)) return;
  const std::vector<std::string> variables = switches_of(config);
  for (const std::string& variable : variables) pass.process.env[variable] = "1";
  pass.process.env["NL_STAGE_ENGINE"] = config.mark.engine;
  pass.process.env["NL_STAGE_ENGINE_SWITCHES"] = joined(variables, ",", "");  // the hooks take back what the workload cannot use
}

std::optional<Remark> engine_remark(const Config& config) {
  if (!switched_on(config)) return std::nullopt;
  const std::string variables = joined(switches_of(config), ", ", "=1");
  return Remark{Code::kEngineSwitches, {config.mark.engine, variables.empty() ? "no variables" : variables}};
}

}  // namespace nl::orchestrator
