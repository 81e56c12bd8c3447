#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "model/run.h"
#include "runs/orchestrator_names.h"
#include "runs/suite/suite.h"

namespace nl::runs {

enum class TaskOutcome { kOk, kFailed, kInterrupted };

// What one run of a target left behind.
struct TaskRecord {
  SuiteTask task;
  TaskOutcome outcome = TaskOutcome::kFailed;
  std::string run_id;
  std::filesystem::path bundle;            // empty: there is none
  double seconds = 0;                      // of the process
  std::map<std::string, double> stage_ms;  // the median window of each stage
  std::string detail;                      // why it failed
  std::string node = {};                   // of a cluster
};

std::filesystem::path task_folder(const std::filesystem::path& out, const Suite& suite, const SuiteTask& task);

struct TaskRequest {
  std::filesystem::path bundle;        // new
  std::filesystem::path logs;          // of the warm-up runs
  int warmups = 0;                     // runs before it that do not count
  std::vector<std::string> sets = {};  // after the suite's own: "ledger.enabled=false"
};

// Runs the target once and leaves a bundle. What fails is in the record; a mistake in the configuration is thrown, for it would be the
// same for every task.
TaskRecord run_task(const Suite& suite, const SuiteTask& task, const TaskRequest& request);

// The same from a bundle that a task on another machine has left.
TaskRecord read_task(const SuiteTask& task, const std::filesystem::path& bundle);

}  // namespace nl::runs
