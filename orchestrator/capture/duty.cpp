#include "orchestrator/capture/duty.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <string_view>

#include "nvtx/names.h"
#include "orchestrator/config/units.h"

namespace nl::orchestrator {
namespace {

// Steps that are traced one after another: turning CUPTI on and off costs as much as a few launches of each. Prompts are long.
constexpr int kShortSteps = 16, kLongSteps = 1;

struct StepNames {
  std::string_view names;  // as the collector compares them: * stands for any text
  int row;
};

// A kind of steps each, and the first that matches counts: decoding, prompts, both in one step.
constexpr StepNames kEngineSteps[] = {
    {"execute_context_0(0)_generation_*", kShortSteps},  // vLLM
    {"execute_context_*_generation_0(0)", kLongSteps},
    {"execute_context_*", kLongSteps},
    {"step[DECODE*", kShortSteps},  // SGLang
    {"step[EXTEND*", kLongSteps},
    {"step[MIXED*", kLongSteps},
    {"[Executor] _forward_step*: 0 ctx reqs,*", kShortSteps},  // TensorRT-LLM
    {"[Executor] _forward_step*, 0 gen reqs", kLongSteps},
    {"[Executor] _forward_step*", kLongSteps},
};

constexpr StepNames kStages[] = {{"decode_step", kShortSteps}, {"denoise_step", kShortSteps}, {"batch", kShortSteps},
                                 {"step", kShortSteps},        {"prefill", kLongSteps},       {"mixed_step", kLongSteps},
                                 {"train_step", kLongSteps}};

int row_of(const std::string& stage) {
  for (const StepNames& each : kStages)
    if (each.names == stage) return each.row;
  return kLongSteps;
}

// "^step .*" → "step *": what has no other special characters. Nothing where it has.
std::optional<std::string> collector_names_of(std::string_view pattern) {
  const bool begins = pattern.starts_with('^'), ends = pattern.ends_with('$');
  if (begins) pattern.remove_prefix(1);
  if (ends && !pattern.empty()) pattern.remove_suffix(1);
  std::string names = begins ? "" : "*";
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] == '.' && i + 1 < pattern.size() && pattern[i + 1] == '*') names += '*', ++i;
    else if (pattern[i] == '\\' && i + 1 < pattern.size() &&
             std::string_view("[](){}.+?|^$\\").find(pattern[i + 1]) != std::string_view::npos)
      names += pattern[++i];
    else if (std::string_view("\\[](){}.+?|*^$\n").find(pattern[i]) != std::string_view::npos) return std::nullopt;
    else names += pattern[i];
  }
  return ends ? names : names + '*';
}

// The user's own names come first.
std::vector<std::pair<std::string, int>> steps_of(const Config& config) {
  std::vector<std::pair<std::string, int>> steps;
  for (const auto& [stage, pattern] : config.stages.map)
    if (const auto names = collector_names_of(pattern)) steps.emplace_back(*names, row_of(stage));
  for (const StepNames& stage : kStages) steps.emplace_back(fmt::format("{}@{}", nvtx::kLlmDomain, stage.names), stage.row);
  for (const StepNames& engine : kEngineSteps) steps.emplace_back(engine.names, engine.row);
  return steps;
}

}  // namespace

std::map<std::string, std::string> duty_environment(const Config& config) {
  if (one_in(config.capture.duty).value_or(1) < 2) return {};
  std::vector<std::string> names;
  std::vector<int> rows;
  for (auto& [name, row] : steps_of(config)) names.push_back(std::move(name)), rows.push_back(row);
  return {{"NL_STAGE_DUTY", config.capture.duty},
          {"NL_STAGE_DUTY_STEPS", fmt::format("{}", fmt::join(names, "\n"))},
          {"NL_STAGE_DUTY_ROW", fmt::format("{}", fmt::join(rows, ","))}};
}

std::vector<std::pair<std::string, std::string>> unknown_steps(const Config& config) {
  std::vector<std::pair<std::string, std::string>> unknown;
  for (const auto& [stage, pattern] : config.stages.map)
    if (!collector_names_of(pattern)) unknown.emplace_back(stage, pattern);
  return unknown;
}

bool marks_steps(const Trace& trace) {
  if (trace.stage_origin.source == StageSource::kInferred) return false;
  return std::any_of(trace.ranges.begin(), trace.ranges.end(), [&](const Range& range) {
    const auto named = [&](const StepNames& stage) { return trace.strings[range.name] == stage.names; };
    return trace.strings[range.domain] == nvtx::kLlmDomain && std::any_of(std::begin(kStages), std::end(kStages), named);
  });
}

}  // namespace nl::orchestrator
