#include "analysis/what_if.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "model/headline.h"

namespace nl::analysis {
namespace {

std::string asked_stage(const Run& run, const std::string& asked) {
  if (!asked.empty()) return asked;
  if (stage_named(run, run.workload.verdict.unit_stage) != nullptr) return run.workload.verdict.unit_stage;
  const auto longest = std::max_element(run.stages.begin(), run.stages.end(),
                                        [](const StageEntry& a, const StageEntry& b) { return a.wall.total_ns < b.wall.total_ns; });
  return longest != run.stages.end() ? longest->name : "";
}

// The functions of the user's own code that the GPU waits for most.
std::vector<NamedChange> own_functions(const Run& run, const std::string& stage) {
  constexpr std::size_t kMost = 4;
  std::vector<NamedChange> changes;
  const StageEntry* entry = stage_named(run, stage);
  if (entry == nullptr || !entry->host_code) return changes;
  for (const HostLine& function : entry->host_code->functions) {
    const bool counts =
        function.kind == HostWork::kUser && function.samples_inside >= kMinHostSamples && !function.frame.function.starts_with('<');
    if (!counts || changes.size() == kMost) continue;
    changes.push_back({fmt::format("--host {}=0", function.frame.function), FasterFunction{function.frame.function, 0}});
  }
  return changes;
}

}  // namespace

WhatIf what_if(const Evidence& evidence, const Knowledge& knowledge, const WhatIfQuestion& question) {
  const Run run = analyse(evidence, knowledge);
  WhatIf result;
  result.name = run.name;
  result.stage = asked_stage(run, question.stage);
  const StagedTrace staged(evidence.trace, knowledge.options.warmup);
  const auto launch = launch_cost(run, evidence.trace.processes, knowledge.tracing);
  const Predictor predictor(staged, launch ? TracerPart{launch->low_ns, launch->high_ns} : TracerPart{});
  const Prediction now = predictor.predict(result.stage, {});
  if (run.status == RunStatus::kPartial || run.status == RunStatus::kInterrupted || run.status == RunStatus::kFailed || now.refused) {
    Prediction none = now;
    for (const NamedChange& change : question.changes) none.changes.push_back(change.text);
    if (!none.refused) none.refused = NoPrediction::kPartial;
    result.predictions.push_back(none);
    return result;
  }
  result.replay_error = predictor.replay_error(result.stage);
  result.binds = now.binds;
  if (const StageEntry* stage = stage_named(run, result.stage)) result.unprofiled_ns = unprofiled_ns(run, *stage);
  if (!question.changes.empty()) {
    result.predictions.push_back(predictor.predict(result.stage, question.changes));
    return result;
  }
  std::vector<NamedChange> changes = predictor.candidates(result.stage);
  for (NamedChange& change : own_functions(run, result.stage)) changes.push_back(std::move(change));
  result.predictions = predictor.ranked(result.stage, changes);
  result.sequence = predictor.best_sequence(result.stage, std::move(changes));
  return result;
}

}  // namespace nl::analysis
