#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "orchestrator/doctor/doctor.h"
#include "runs/orchestrator_names.h"
#include "runs/suite/task.h"

namespace nl::runs {

enum class PairVerdict { kMet, kMissed, kRegressed, kUndecided, kFailed };

// Re-derived from the unprofiled runs; what a target says of itself does not count.
struct PairResult {
  TargetPair pair;
  std::string measured;                           // "prefill + decode", "the whole run"
  std::vector<double> baseline_ms, optimised_ms;  // by repetition
  std::optional<double> speedup;                  // ratio of the geometric means
  std::optional<double> low, high;                // 95 % interval of it
  PairVerdict verdict = PairVerdict::kFailed;
  std::string note;  // why it is not decided
};

struct SuiteResult {
  Suite suite;
  std::string engine;  // "local", "slurm"; for readers
  std::string started_at, ended_at;
  std::vector<Check> checks;  // of the environment
  std::vector<TaskRecord> tasks;
  std::vector<PairResult> pairs;
  std::vector<std::string> orphans;
  std::filesystem::path out;
  int interrupt_signal = 0;
  bool blocked() const;  // by a check, so that no run ended well
};

// The pairs of a suite, judged by what its tasks have measured.
std::vector<PairResult> judge_pairs(const Suite& suite, const std::vector<TaskRecord>& tasks);

std::string_view verdict_name(PairVerdict verdict);  // "met", "missed" …

// The whole: the gravest of its pairs; kFailed also where a task failed.
PairVerdict suite_verdict(const SuiteResult& result);

}  // namespace nl::runs
