#include "runs/suite/task.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "model/error.h"
#include "orchestrator/bundle/read_run.h"
#include "orchestrator/process/interrupts.h"
#include "orchestrator/run.h"
#include "runs/ledger/record_run.h"

namespace nl::runs {
namespace fs = std::filesystem;
namespace {

const char* runner_of(const Suite& suite, const SuiteTask& task) {
  if (!task.profiled) return "unprofiled";
  return suite.profile == SuiteProfile::kDeep ? "deep" : "light";
}

Config config_of(const Suite& suite, const SuiteTask& task, const std::vector<std::string>& sets) {
  const SuiteTarget& target = suite.targets[task.target];
  std::vector<std::string> all = {setting("workload.working_directory", target.directory), setting("nsys.timeout_s", suite.timeout_s)};
  if (!target.env.empty()) all.push_back(setting("workload.env", target.env));
  all.insert(all.end(), target.sets.begin(), target.sets.end());
  all.insert(all.end(), sets.begin(), sets.end());
  return load_config({.runner_file = runner_of(suite, task), .sets = std::move(all), .name = target.name, .command = target.command});
}

// Files come into memory, caches are filled, kernels are compiled.
void warm_up(const Suite& suite, const SuiteTask& task, const TaskRequest& request) {
  const SuiteTarget& target = suite.targets[task.target];
  fs::create_directories(request.logs);
  for (int i = 1; i <= request.warmups && Interrupts::signal() == 0; ++i) {
    ProcessSpec spec;
    spec.argv = target.command;
    spec.env = target.env;
    spec.working_directory = target.directory;
    const fs::path log = request.logs / fmt::format("{:03}-{}-{}", task.number, target.name, i);
    spec.stdout_log = log.string() + ".stdout.log";
    spec.stderr_log = log.string() + ".stderr.log";
    spec.timeout_s = suite.timeout_s;
    spec.signal_group = true;
    spec.label = fmt::format("{}: warm-up {} of {}", target.name, i, request.warmups);
    const ProcessResult result = run_process(spec);
    if (result.interrupted) return;
    if (result.exit_status != 0)
      throw Error(ErrorKind::kWorkload, fmt::format("warm-up {} ended with status {}", i, result.exit_status), spec.stderr_log.string());
  }
}

// Of the pass that ran the workload for the bundle's sake; unprofiled runs have no other.
double seconds_of_run(const Run& run) {
  for (const PassRecord& pass : run.provenance.passes)
    if (pass.outcome == PassOutcome::kOk && (pass.kind == PassKind::kCollector || pass.kind == PassKind::kNsys))
      return static_cast<double>(pass.duration_ns) * 1e-9;
  return 0;
}

TaskRecord record_of(const SuiteTask& task, const Run& run, const fs::path& bundle) {
  TaskRecord record{task, TaskOutcome::kOk, run.run_id, bundle, seconds_of_run(run), {}, {}};
  for (const StageEntry& stage : run.stages)
    if (stage.wall.count > 0) record.stage_ms[stage.name] = stage.wall.median_ns * 1e-6;
  if (run.status == RunStatus::kInterrupted) record.outcome = TaskOutcome::kInterrupted;
  // A profile that lacks counters is still a profile; a timed run that lacks anything is no timing.
  const bool failed = run.status == RunStatus::kFailed || (run.status != RunStatus::kComplete && !task.profiled) || record.seconds == 0;
  if (record.outcome == TaskOutcome::kOk && failed) record.outcome = TaskOutcome::kFailed;
  if (record.outcome != TaskOutcome::kOk && !run.problems.empty()) record.detail = what_failed(run);
  return record;
}

}  // namespace

fs::path task_folder(const fs::path& out, const Suite& suite, const SuiteTask& task) {
  return out / "runs" / fmt::format("{:03}-{}", task.number, task_name(suite, task));
}

TaskRecord run_task(const Suite& suite, const SuiteTask& task, const TaskRequest& request) {
  TaskRecord record{task, TaskOutcome::kFailed, {}, {}, 0, {}, {}};
  try {
    fs::create_directories(request.bundle.parent_path());
    const Config config = config_of(suite, task, request.sets);
    warm_up(suite, task, request);
    if (Interrupts::signal() == 0) {
      ProcessLauncher launcher;
      const RunResult result =
          run_workload({.config = config, .out = request.bundle, .echo = Echo::kNothing, .record = record_run}, launcher);
      record = record_of(task, result.run, request.bundle);
    }
  } catch (const Error& error) {
    if (error.kind == ErrorKind::kConfig || error.kind == ErrorKind::kOutput) throw;
    record.detail = error.where.empty() ? error.message : error.message + ": " + error.where;
  }
  if (Interrupts::signal() != 0) record.outcome = TaskOutcome::kInterrupted;
  return record;
}

TaskRecord read_task(const SuiteTask& task, const fs::path& bundle) {
  try {
    const fs::path file = run_json_of(bundle);
    return record_of(task, read_run(read_run_text(file), file), bundle);
  } catch (const Error& error) {
    return {task, TaskOutcome::kFailed, {}, {}, 0, {}, error.message};
  }
}

}  // namespace nl::runs
