#include "runs/suite/run_suite.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "analysis/statistics/bootstrap.h"
#include "analysis/statistics/difference.h"
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

// One value a run, in the order in which they ran. Runs of one repetition stand beside each other and are compared with each other.
std::vector<analysis::OrderedValue> in_order(const Runs& runs, const std::vector<double>& times, bool of_b) {
  std::vector<analysis::OrderedValue> values;
  for (std::size_t i = 0; i < runs.size(); ++i)
    if (times[i] > 0) values.push_back({std::log(times[i]), static_cast<double>(runs[i]->task.number), of_b});
  return values;
}

// The speed-up is the ratio of the two figures that are shown, the medians; its interval is that of compare, which holds it.
void derive_speedup(const Runs& baseline, const Runs& optimised, PairResult& result) {
  const double before = analysis::median_of(result.baseline_ms), after = analysis::median_of(result.optimised_ms);
  if (!(before > 0) || !(after > 0)) return;
  result.speedup = before / after;
  std::vector<analysis::OrderedValue> values = in_order(optimised, result.optimised_ms, false);
  for (const analysis::OrderedValue& each : in_order(baseline, result.baseline_ms, true)) values.push_back(each);
  const auto effect = analysis::effect_of(std::move(values), {});
  if (!effect || baseline.size() < 2 || optimised.size() < 2) return;
  const analysis::Interval interval = effect->interval(0.95);
  result.low = std::min(*result.speedup, std::exp(interval.low));
  result.high = std::max(*result.speedup, std::exp(interval.high));
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
  derive_speedup(baseline, optimised, result);
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
