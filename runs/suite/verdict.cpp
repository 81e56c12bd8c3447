#include "runs/suite/run_suite.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "analysis/statistics/confidence.h"
#include "orchestrator/config/config.h"

namespace nl::runs {
namespace {

using Runs = std::vector<const TaskRecord*>;

Runs timed_runs(const std::vector<TaskRecord>& tasks, std::size_t target) {
  Runs runs;
  for (const TaskRecord& record : tasks)
    if (record.task.target == target && !record.task.profiled && record.outcome == TaskOutcome::kOk) runs.push_back(&record);
  std::sort(runs.begin(), runs.end(), [](const TaskRecord* a, const TaskRecord* b) { return a->task.repetition < b->task.repetition; });
  return runs;
}

bool all_have(const Runs& runs, const std::string& stage) {
  return std::all_of(runs.begin(), runs.end(), [&](const TaskRecord* run) { return run->stage_ms.contains(stage); });
}

// The stages to add up; none: the whole process is timed.
std::vector<std::string> stages_of(const Suite& suite, const Runs& a, const Runs& b) {
  if (suite.measure.kind == Measure::Kind::kRun) return {};
  if (suite.measure.kind == Measure::Kind::kStage) return {suite.measure.stage};
  std::vector<std::string> stages;
  for (const std::string& stage : RunOptions{}.stages)
    if (all_have(a, stage) && all_have(b, stage)) stages.push_back(stage);
  return stages;
}

std::vector<double> times_ms(const Runs& runs, const std::vector<std::string>& stages) {
  std::vector<double> times;
  for (const TaskRecord* run : runs) {
    double total = stages.empty() ? run->seconds * 1e3 : 0;
    for (const std::string& stage : stages) total += run->stage_ms.at(stage);
    times.push_back(total);
  }
  return times;
}

std::vector<double> logarithms(const std::vector<double>& values) {
  std::vector<double> logs;
  for (const double value : values) logs.push_back(std::log(value));
  return logs;
}

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

// Uses logarithms, so that a pair and the same pair swapped have reciprocal intervals.
void derive_speedup(PairResult& result) {
  const auto baseline = logarithms(result.baseline_ms), optimised = logarithms(result.optimised_ms);
  result.speedup = std::exp(mean(baseline) - mean(optimised));
  if (const auto interval = analysis::difference_95(optimised, baseline)) {
    result.low = std::exp(interval->low);
    result.high = std::exp(interval->high);
  }
}

void decide(PairResult& result, double threshold) {
  if (!result.low) {
    result.verdict = PairVerdict::kUndecided;
    result.note = "one run of each has no interval: raise iterations";
  } else if (*result.low >= threshold) {
    result.verdict = PairVerdict::kMet;
  } else if (*result.high < 1) {
    result.verdict = PairVerdict::kRegressed;
  } else if (*result.high < threshold) {
    result.verdict = PairVerdict::kMissed;
  } else {
    result.verdict = PairVerdict::kUndecided;
    result.note = "the interval holds the threshold: raise iterations";
  }
}

// What both halves of a pair have in common: how much work there is. Program, arguments and precision are what a pair changes.
constexpr std::array kSameWork = {IdentityPart::kArchitecture, IdentityPart::kShape,        IdentityPart::kInputs,
                                  IdentityPart::kBatch,        IdentityPart::kPromptTokens, IdentityPart::kOutputTokens};

// "not the same work: batch 8 and 16"; empty: nothing that is known differs
std::string other_work(const Runs& a, const Runs& b) {
  for (const TaskRecord* of_a : a)
    for (const TaskRecord* of_b : b)
      for (const IdentityPart part : differing_parts(of_a->identity, of_b->identity))
        if (std::find(kSameWork.begin(), kSameWork.end(), part) != kSameWork.end())
          return fmt::format("not the same work: {} {} and {}", key_of(part), of_a->identity[part], of_b->identity[part]);
  return {};
}

PairResult judge(const Suite& suite, const TargetPair& pair, const std::vector<TaskRecord>& tasks) {
  PairResult result{pair, {}, {}, {}, {}, {}, {}, PairVerdict::kFailed, {}};
  const Runs baseline = timed_runs(tasks, pair.baseline), optimised = timed_runs(tasks, pair.optimised);
  if (baseline.empty() || optimised.empty()) {
    result.note = fmt::format("{} has no run that ended well", suite.targets[baseline.empty() ? pair.baseline : pair.optimised].name);
    return result;
  }
  result.note = other_work(baseline, optimised);
  if (!result.note.empty()) return result;
  const auto stages = stages_of(suite, baseline, optimised);
  for (const std::string& stage : stages)
    if (!all_have(baseline, stage) || !all_have(optimised, stage)) {
      result.note = fmt::format("not every run has the stage {}", stage);
      return result;
    }
  result.measured = stages.empty() ? "the whole run" : fmt::format("{}", fmt::join(stages, " + "));
  result.baseline_ms = times_ms(baseline, stages);
  result.optimised_ms = times_ms(optimised, stages);
  derive_speedup(result);
  decide(result, suite.threshold);
  return result;
}

}  // namespace

bool SuiteResult::blocked() const {
  return any_blocked(checks) &&
         std::none_of(tasks.begin(), tasks.end(), [](const TaskRecord& task) { return task.outcome == TaskOutcome::kOk; });
}

std::vector<PairResult> judge_pairs(const Suite& suite, const std::vector<TaskRecord>& tasks) {
  std::vector<PairResult> results;
  for (const TargetPair& pair : find_pairs(suite).pairs) results.push_back(judge(suite, pair, tasks));
  return results;
}

std::string_view verdict_name(PairVerdict verdict) {
  switch (verdict) {
    case PairVerdict::kMet: return "met";
    case PairVerdict::kMissed: return "missed";
    case PairVerdict::kRegressed: return "regressed";
    case PairVerdict::kUndecided: return "undecided";
    case PairVerdict::kFailed: return "failed";
  }
  return "";
}

PairVerdict suite_verdict(const SuiteResult& result) {
  const auto any = [&](PairVerdict verdict) {
    return std::any_of(result.pairs.begin(), result.pairs.end(), [&](const PairResult& pair) { return pair.verdict == verdict; });
  };
  const bool failed =
      std::any_of(result.tasks.begin(), result.tasks.end(), [](const TaskRecord& task) { return task.outcome != TaskOutcome::kOk; });
  if (failed || any(PairVerdict::kFailed)) return PairVerdict::kFailed;
  for (const PairVerdict verdict : {PairVerdict::kRegressed, PairVerdict::kMissed, PairVerdict::kUndecided})
    if (any(verdict)) return verdict;
  return PairVerdict::kMet;
}

}  // namespace nl::runs
