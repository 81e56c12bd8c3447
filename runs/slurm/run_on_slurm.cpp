#include "runs/slurm/run_on_slurm.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <set>

#include "model/error.h"
#include "model/shell.h"
#include "orchestrator/bundle/bundle.h"
#include "orchestrator/bundle/read_run.h"
#include "orchestrator/bundle/sha256.h"
#include "orchestrator/process/interrupts.h"
#include "runs/ledger/bundles.h"
#include "runs/slurm/slurm.h"
#include "runs/suite/progress.h"
#include "runs/suite/rounds.h"

namespace nl::runs::slurm {
namespace fs = std::filesystem;
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr int kMostRefusals = 20;      // of sbatch, of tasks that are submitted again
constexpr double kCancelSeconds = 30;  // for running tasks to end after scancel

double seconds_from(SteadyClock::time_point start) { return std::chrono::duration<double>(SteadyClock::now() - start).count(); }

std::string last_line_of(const fs::path& file) {
  std::ifstream in(file);
  std::string last;
  for (std::string line; std::getline(in, line);)
    if (!line.empty()) last = line;
  return last;
}

// A task that has no result yet.
struct OpenTask {
  SuiteTask task;
  std::string job;
  int attempts = 0;  // how often it was submitted,
  int failures = 0;  // and of these how often it ran and failed
  bool running = false;
  std::optional<SteadyClock::time_point> ended;  // since when it has been seen to have ended
};

class ClusterRun {
 public:
  explicit ClusterRun(const ClusterRequest& request)
      : request_(request), result_{request.suite.suite, "slurm", {}, {}, {}, {}, {}, {}, make_suite_folder(request.suite), 0},
        progress_(SuiteProgress::of(request.suite, result_.out)) {
    for (const std::size_t orphan : find_pairs(result_.suite).orphans) result_.orphans.push_back(result_.suite.targets[orphan].name);
  }

  SuiteResult run() {
    result_.started_at = utc_text(std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now()));
    write_script();
    if (request_.suite.resume) end_earlier_jobs();
    run_rounds(result_, [this](const std::vector<SuiteTask>& tasks) { run_tasks(tasks); });
    remove_scraps();
    std::sort(result_.tasks.begin(), result_.tasks.end(),
              [](const TaskRecord& a, const TaskRecord& b) { return a.task.number < b.task.number; });
    finish_suite(result_, request_.suite.update_expectations);
    return std::move(result_);
  }

 private:
  const Suite& suite() const { return result_.suite; }
  fs::path folder() const { return result_.out / "slurm"; }
  // Of the folder, too: a suite that is resumed finds the jobs it had.
  std::string job_name() const { return fmt::format("nl-{}-{}", suite().name, sha256_text(result_.out.string()).substr(0, 8)); }

  void run_tasks(const std::vector<SuiteTask>& tasks) {
    for (const SuiteTask& task : tasks) {
      all_.push_back(task);
      if (auto record = request_.suite.resume ? progress_.finished(suite(), task) : std::nullopt) {
        log_suite(result_.out, keep_line(suite(), *record));
        result_.tasks.push_back(std::move(*record));
        continue;
      }
      clear_place_of(task);
      open_.push_back({task, {}, 0, 0, false, {}});
    }
    if (open_.empty()) return;
    write_tasks(result_.out, suite(), all_);
    submit_tasks(open_);
    while (!open_.empty() && Interrupts::signal() == 0) look_and_wait();
    if (!open_.empty()) end_early();
    open_.clear();
  }

  // What an earlier attempt left is kept beside it, and does not count.
  void clear_place_of(const SuiteTask& task) const {
    const fs::path place = task_folder(result_.out, suite(), task);
    std::error_code ignored;
    fs::remove(result_file(result_.out, task.number), ignored);
    if (fs::exists(place, ignored)) fs::rename(place, unused_folder(place), ignored);
  }

  // The command before may have been killed, which leaves its jobs in the queue.
  void end_earlier_jobs() {
    const auto statuses = ask(job_name());
    if (!statuses) return;
    std::set<std::string> earlier;
    for (const auto& [task, status] : *statuses) earlier.insert(task.first);
    answered_.assign(earlier.begin(), earlier.end());  // they are never taken for those of this command
    cancel_and_wait(answered_);
  }

  std::vector<std::string> task_command() const {
    const SlurmOptions& slurm = suite().slurm;
    std::vector<std::string> words;
    if (!slurm.srun_args.empty()) {
      words = {"srun"};
      words.insert(words.end(), slurm.srun_args.begin(), slurm.srun_args.end());
    }
    words.insert(words.end(),
                 {slurm.program.empty() ? own_program() : slurm.program, "suite", suite().file.string(), "--out", result_.out.string()});
    for (const std::string& name : suite().waived) words.insert(words.end(), {"--waive", name});
    for (const std::string& pattern : suite().chosen) words.insert(words.end(), {"--target", pattern});
    for (const std::string& set : request_.suite.sets) words.insert(words.end(), {"--set", set});
    words.insert(words.end(), {"--set", "ledger.enabled=false"});  // one process writes into it: this one
    return words;
  }

  void write_script() const {
    fs::create_directories(folder() / "results");
    fs::create_directories(folder() / "logs");
    write_file_whole(folder() / "task.sh",
                     fmt::format("#!/bin/sh\nexec {} --task \"$SLURM_ARRAY_TASK_ID\"\n", shell_quoted(task_command())));
  }

  void submit_tasks(std::vector<OpenTask>& tasks) {
    BatchJob job{job_name(), folder() / "task.sh", folder() / "logs" / "%A_%a.log", suite().slurm};
    for (const OpenTask& task : tasks) job.tasks.push_back(task.task.number);
    const std::string id = submit(job);
    jobs_.push_back(id);
    answered_.push_back(id);
    for (OpenTask& task : tasks) {
      task.job = id;
      ++task.attempts;
      task.running = false;
      task.ended.reset();
    }
    log_suite(result_.out, fmt::format("SUBMIT job={} tasks={}", id, array_text(job.tasks)));
  }

  void look_and_wait() {
    collect_results();
    if (const auto statuses = ask(job_name()); statuses && Interrupts::signal() == 0) {
      silent_ = false;
      for (OpenTask& task : open_) follow(task, *statuses);
      settle(*statuses);
    } else if (!std::exchange(silent_, true) && Interrupts::signal() == 0) {
      log_suite(result_.out, "WAIT squeue does not answer");
    }
    pollfd wake = {Interrupts::wake_fd(), POLLIN, 0};
    poll(&wake, 1, static_cast<int>(1000 * request_.poll_s));
    Interrupts::drain();
  }

  void collect_results() {
    std::vector<OpenTask> failed;
    std::erase_if(open_, [&](const OpenTask& task) {
      auto report = read_report(suite(), task.task, result_.out);
      if (!report) return false;
      report->record.attempts = 1 + task.failures;
      if (may_try_again(task, report->record)) {
        failed.push_back(task);
        return true;
      }
      take(std::move(report->record));
      add_checks(*report);
      return true;
    });
    if (!failed.empty()) run_again(failed);
  }

  bool may_try_again(const OpenTask& task, const TaskRecord& record) const {
    return record.outcome == TaskOutcome::kFailed && task.failures < request_.suite.retry_failed && Interrupts::signal() == 0;
  }

  // --retry-failed
  void run_again(std::vector<OpenTask>& failed) {
    for (OpenTask& task : failed) {
      clear_place_of(task.task);
      ++task.failures;
      task.ended = SteadyClock::now();  // so that settle() submits it where Slurm does not take it now
      log_suite(result_.out, fmt::format("RETRY {:03} {} attempt={}", task.task.number, task_name(suite(), task.task), 1 + task.failures));
    }
    submit_again(failed);
    open_.insert(open_.end(), failed.begin(), failed.end());
  }

  void take(TaskRecord record) {
    const std::string unrecorded = !record.bundle.empty() && request_.collect ? request_.collect(record) : "";
    if (!unrecorded.empty()) log_suite(result_.out, fmt::format("NOTE {:03} is not in the ledger: {}", record.task.number, unrecorded));
    log_suite(result_.out, end_line(suite(), record) + (record.node.empty() ? "" : " node=" + record.node));
    progress_.note(suite(), record);
    result_.tasks.push_back(std::move(record));
  }

  // Adds the checks of each node once, and only those that did not pass.
  void add_checks(const NodeReport& report) {
    if (!nodes_.insert(report.record.node).second) return;
    for (Check check : report.checks) {
      check.subject += " on " + report.record.node;
      if (check.level != CheckLevel::kOk) result_.checks.push_back(std::move(check));
    }
  }

  void follow(OpenTask& task, const Statuses& statuses) {
    const auto found = statuses.find({task.job, task.task.number});
    const TaskStatus status = found != statuses.end() ? found->second : TaskStatus{};  // forgotten: it ended a while ago
    if (status.state == TaskState::kRunning && !std::exchange(task.running, true))
      log_suite(result_.out, fmt::format("START {:03} {} job={}_{} node={} attempt={}", task.task.number, task_name(suite(), task.task),
                                         task.job, task.task.number, status.node, task.attempts));
    const bool over = status.state != TaskState::kWaiting && status.state != TaskState::kRunning;
    if (!over) task.ended.reset();
    else if (!task.ended) task.ended = SteadyClock::now();
    last_status_[task.task.number] = status;
  }

  // What has ended, and left no result although there was time for it to be seen.
  void settle(const Statuses& statuses) {
    for (OpenTask& task : open_)
      if (task.ended) adopt(task, statuses);
    std::vector<OpenTask> lost;
    std::erase_if(open_, [&](const OpenTask& task) {
      if (!task.ended || seconds_from(*task.ended) < request_.settle_s) return false;
      const TaskStatus& status = last_status_[task.task.number];
      const bool again = status.state == TaskState::kEnded && task.attempts - task.failures < request_.attempts;
      if (again) lost.push_back(task);
      else take(lost_record(task, status));
      return true;
    });
    if (lost.empty()) return;
    if (submit_again(lost))
      for (const OpenTask& task : lost)
        log_suite(result_.out, fmt::format("REQUEUE {:03} {} state={} node={}", task.task.number, task_name(suite(), task.task),
                                           last_status_[task.task.number].word, last_status_[task.task.number].node));
    open_.insert(open_.end(), lost.begin(), lost.end());
  }

  // Slurm took these options before: where it does not now, it is busy. The tasks stay as they are and come to settle() again.
  bool submit_again(std::vector<OpenTask>& tasks) {
    try {
      submit_tasks(tasks);
      return true;
    } catch (const Error& error) {
      if (++refusals_ > kMostRefusals) throw;
      log_suite(result_.out, fmt::format("WAIT {}", error.what()));
      return false;
    }
  }

  // Slurm may take a job and be too late to say so.
  void adopt(OpenTask& task, const Statuses& statuses) {
    if (refusals_ == 0) return;
    const auto taken = std::find_if(statuses.begin(), statuses.end(), [&](const auto& each) {
      return each.first.second == task.task.number && std::find(answered_.begin(), answered_.end(), each.first.first) == answered_.end();
    });
    if (taken == statuses.end() || taken->first.first == task.job) return;
    task.job = taken->first.first;
    ++task.attempts;
    task.running = false;
    task.ended.reset();
    jobs_.push_back(task.job);
  }

  TaskRecord lost_record(const OpenTask& task, const TaskStatus& status) const {
    const fs::path log = folder() / "logs" / fmt::format("{}_{}.log", task.job, task.task.number);
    const std::string said = last_line_of(log);
    const std::string state = status.word.empty() ? "left no result" : status.word;
    return {task.task,
            TaskOutcome::kFailed,
            {},
            {},
            0,
            {},
            fmt::format("{} after {} attempt{}{}; {}", state, task.attempts, task.attempts == 1 ? "" : "s", said.empty() ? "" : ": " + said,
                        log.string()),
            status.node};
  }

  // What ended well until then counts.
  void end_early() {
    log_suite(result_.out, "CANCEL what was queued or ran");
    cancel_and_wait(jobs_);
    collect_results();
  }

  void cancel_and_wait(const std::vector<std::string>& jobs) const {
    cancel(jobs);
    for (const auto began = SteadyClock::now(); seconds_from(began) < kCancelSeconds; usleep(200'000)) {
      const auto statuses = ask(job_name());
      const auto active = [](const auto& each) {
        return each.second.state == TaskState::kWaiting || each.second.state == TaskState::kRunning;
      };
      if (statuses && std::none_of(statuses->begin(), statuses->end(), active)) break;
    }
  }

  // Half a bundle of a node that went away.
  void remove_scraps() const {
    std::error_code ignored;
    std::vector<fs::path> scraps;
    for (fs::directory_iterator entry(result_.out / "runs", ignored), end; !ignored && entry != end; entry.increment(ignored))
      if (entry->path().filename().string().starts_with('.')) scraps.push_back(entry->path());
    for (const fs::path& scrap : scraps) fs::remove_all(scrap, ignored);
  }

  const ClusterRequest& request_;
  SuiteResult result_;
  SuiteProgress progress_;
  std::vector<SuiteTask> all_;  // of the rounds so far
  std::vector<OpenTask> open_;
  std::vector<std::string> jobs_;      // to cancel
  std::vector<std::string> answered_;  // of them, those whose number sbatch told
  int refusals_ = 0;
  std::map<int, TaskStatus> last_status_;
  std::set<std::string> nodes_;
  bool silent_ = false;
};

}  // namespace

Collector ledger_collector(const std::vector<std::string>& sets) {
  const LedgerOptions options = load_config({.runner_file = "unprofiled", .sets = sets}).ledger;
  return [options](const TaskRecord& record) -> std::string {
    try {
      const auto file = run_json_of(record.bundle);
      const std::string text = read_run_text(file);
      LedgerOptions own = options;
      if (!record.task.profiled) own.part_of = kPartOfSuite;
      const LedgerRecord recorded = record_run(own, read_run(text, file), text, record.bundle);
      return recorded.failure ? recorded.failure->message : std::string();
    } catch (const Error& error) {
      return error.message;
    }
  };
}

SuiteResult run_on_slurm(const ClusterRequest& request) {
  Interrupts interrupts;
  return ClusterRun(request).run();
}

}  // namespace nl::runs::slurm
