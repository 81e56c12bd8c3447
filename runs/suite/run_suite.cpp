#include "runs/suite/run_suite.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>

#include "model/error.h"
#include "orchestrator/bundle/bundle.h"
#include "orchestrator/doctor/checks_timing.h"
#include "orchestrator/process/interrupts.h"
#include "runs/queue/machine_lock.h"
#include "runs/queue/queue.h"

namespace nl::runs {
namespace fs = std::filesystem;
namespace {

std::string utc_now() { return utc_text(std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now())); }

void run_tasks(SuiteResult& result, const std::vector<std::string>& sets) {
  for (const SuiteTask& task : plan_tasks(result.suite)) {
    if (Interrupts::signal() != 0) return;
    log_suite(result.out, fmt::format("START {:03} {}", task.number, task_name(result.suite, task)));
    const bool first = task.repetition == 1 && !task.profiled;
    result.tasks.push_back(run_task(
        result.suite, task, {task_folder(result.out, result.suite, task), result.out / "warmup", first ? result.suite.warmup : 0, sets}));
    log_suite(result.out, end_line(result.suite, result.tasks.back()));
  }
}

}  // namespace

fs::path make_suite_folder(const SuiteRequest& request) {
  const fs::path out = fs::absolute(results_folder(request.out, "suites", request.suite.name));
  make_results_folder(out);
  return out;
}

void log_suite(const fs::path& out, const std::string& line) { append_to_log(out / "suite.log", line); }

std::string end_line(const Suite& suite, const TaskRecord& record) {
  return fmt::format("END {:03} {} outcome={} seconds={:.3f} bundle={}{}", record.task.number, task_name(suite, record.task),
                     kTaskOutcomes[static_cast<std::size_t>(record.outcome)], record.seconds, record.bundle.string(),
                     record.detail.empty() ? "" : fmt::format(" reason=\"{}\"", record.detail));
}

std::vector<Check> check_environment(const Suite& suite) {
  const Host host = host_itself();
  std::string trouble;
  const auto gpus = read_gpu_states(find_nvml({}, host), host.variable("CUDA_VISIBLE_DEVICES"), trouble);
  return timing_checks(host, gpus, trouble, suite.waived);
}

void finish_suite(SuiteResult& result) {
  result.interrupt_signal = Interrupts::signal();
  result.ended_at = utc_now();
  result.pairs = judge_pairs(result.suite, result.tasks);
  write_file_whole(result.out / "suite.json", suite_json(result));
  write_file_whole(result.out / "suite.md", suite_markdown(result));
}

SuiteResult run_suite(const SuiteRequest& request) {
  Interrupts interrupts;
  SuiteResult result{request.suite, "local", {}, {}, {}, {}, {}, {}, make_suite_folder(request), 0};
  for (const std::size_t orphan : find_pairs(result.suite).orphans) result.orphans.push_back(result.suite.targets[orphan].name);
  const fs::path lock_file = machine_lock_file();
  const auto lock = MachineLock::wait_for(lock_file, "suite " + request.suite.file.string());
  result.started_at = utc_now();
  if (lock) {
    if (!lock->held_above_us()) setenv(kLockHolderVariable, lock_holder(getpid(), lock_file).c_str(), 1);
    result.checks = check_environment(result.suite);
    if (!result.blocked()) run_tasks(result, request.sets);
  }
  finish_suite(result);
  return result;
}

}  // namespace nl::runs
