#include "runs/suite/run_suite.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <set>

#include "model/error.h"
#include "orchestrator/bundle/bundle.h"
#include "orchestrator/doctor/checks_timing.h"
#include "orchestrator/process/interrupts.h"
#include "runs/queue/machine_lock.h"
#include "runs/queue/queue.h"
#include "runs/suite/pair_outputs.h"
#include "runs/suite/progress.h"
#include "runs/suite/rounds.h"
#include "runs/suite/sizes.h"

namespace nl::runs {
namespace fs = std::filesystem;
namespace {

std::string utc_now() { return utc_text(std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now())); }

constexpr const char* kVirtualMachineCheck = "virtual_machine";

// The tasks of a suite on this machine, one after another.
class LocalTasks {
 public:
  LocalTasks(const SuiteRequest& request, SuiteResult& result, SuiteProgress progress)
      : request_(request), result_(result), progress_(std::move(progress)) {}

  void run(const std::vector<SuiteTask>& tasks) {
    for (const SuiteTask& task : tasks) {
      if (Interrupts::signal() != 0) return;
      run(task);
    }
  }

 private:
  const Suite& suite() const { return result_.suite; }

  void run(const SuiteTask& task) {
    if (auto record = request_.resume ? progress_.finished(suite(), task) : std::nullopt) {
      log_suite(result_.out, keep_line(suite(), *record));
      return result_.tasks.push_back(std::move(*record));
    }
    result_.tasks.push_back(attempts_of(task));
    progress_.note(suite(), result_.tasks.back());
  }

  // What fails is run again as often as --retry-failed allows; each attempt leaves its bundle.
  TaskRecord attempts_of(const SuiteTask& task) {
    const bool first = !task.profiled && warmed_.insert({task.target, task.size}).second;
    TaskRecord record;
    for (int attempt = 1; attempt <= 1 + request_.retry_failed; ++attempt) {
      const std::string again = attempt > 1 ? fmt::format(" attempt={}", attempt) : "";
      log_suite(result_.out, fmt::format("START {:03} {}{}", task.number, task_name(suite(), task), again));
      record = run_task(
          suite(), task,
          {unused_folder(task_folder(result_.out, suite(), task)), result_.out / "warmup", first ? suite().warmup : 0, request_.sets});
      record.attempts = attempt;
      log_suite(result_.out, end_line(suite(), record) + again);
      if (record.outcome != TaskOutcome::kFailed || Interrupts::signal() != 0) break;
    }
    return record;
  }

  const SuiteRequest& request_;
  SuiteResult& result_;
  SuiteProgress progress_;
  std::set<std::pair<std::size_t, std::int64_t>> warmed_;  // targets, by size
};

}  // namespace

fs::path make_suite_folder(const SuiteRequest& request) {
  if (request.resume && request.out.empty())
    throw Error(ErrorKind::kUsage, "which suite is to be resumed?", "--resume", "name the folder of its results with --out DIR");
  const fs::path out = fs::absolute(results_folder(request.out, "suites", request.suite.name));
  if (!request.resume) make_results_folder(out);
  return out;
}

void log_suite(const fs::path& out, const std::string& line) { append_to_log(out / "suite.log", line); }

std::string end_line(const Suite& suite, const TaskRecord& record) {
  return fmt::format("END {:03} {} outcome={} seconds={:.3f} bundle={}{}", record.task.number, task_name(suite, record.task),
                     kTaskOutcomes[static_cast<std::size_t>(record.outcome)], record.seconds, record.bundle.string(),
                     record.detail.empty() ? "" : fmt::format(" reason=\"{}\"", record.detail));
}

std::string keep_line(const Suite& suite, const TaskRecord& record) {
  return fmt::format("KEEP {:03} {} bundle={}", record.task.number, task_name(suite, record.task), record.bundle.string());
}

fs::path unused_folder(const fs::path& folder) {
  std::error_code ignored;
  fs::path place = folder;
  for (int number = 2; fs::exists(place, ignored); ++number) place = folder.string() + fmt::format("-again-{}", number);
  return place;
}

std::vector<Check> check_environment(const Suite& suite) {
  const Host host = host_itself();
  std::vector<std::string> warnings = {kVirtualMachineCheck};  // most GPUs are rented, and a pair is timed in turn on the same one
  std::erase_if(warnings, [&](const std::string& name) {
    return std::find(suite.required.begin(), suite.required.end(), name) != suite.required.end();
  });
  std::string trouble;
  const auto gpus = read_gpu_states(find_nvml({}, host), host.variable("CUDA_VISIBLE_DEVICES"), trouble);
  return timing_checks(host, gpus, trouble, suite.waived, warnings);
}

void finish_suite(SuiteResult& result, bool update_expectations) {
  result.interrupt_signal = Interrupts::signal();
  result.ended_at = utc_now();
  const std::vector<TaskRecord> judged = at_last_size(result.suite, result.tasks);
  result.pairs = judge_pairs(result.suite, judged);
  tell_sizes(result.suite, result.tasks, result.pairs);
  check_outputs(result.suite, judged, result.pairs);
  judge_expectations(result, update_expectations && result.interrupt_signal == 0);
  write_file_whole(result.out / "suite.json", suite_json(result));
  write_file_whole(result.out / "suite.md", suite_markdown(result));
}

SuiteResult run_suite(const SuiteRequest& request) {
  Interrupts interrupts;
  SuiteResult result{request.suite, "local", {}, {}, {}, {}, {}, {}, make_suite_folder(request), 0};
  SuiteProgress progress = SuiteProgress::of(request, result.out);
  for (const std::size_t orphan : find_pairs(result.suite).orphans) result.orphans.push_back(result.suite.targets[orphan].name);
  const fs::path lock_file = machine_lock_file();
  const auto lock = MachineLock::wait_for(lock_file, "suite " + request.suite.file.string());
  result.started_at = utc_now();
  if (lock) {
    if (!lock->held_above_us()) setenv(kLockHolderVariable, lock_holder(getpid(), lock_file).c_str(), 1);
    result.checks = check_environment(result.suite);
    LocalTasks local(request, result, std::move(progress));
    if (!result.blocked()) run_rounds(result, [&](const std::vector<SuiteTask>& tasks) { local.run(tasks); });
  }
  finish_suite(result, request.update_expectations);
  return result;
}

}  // namespace nl::runs
