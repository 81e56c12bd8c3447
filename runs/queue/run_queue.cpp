#include "runs/queue/run_queue.h"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>

#include "orchestrator/process/interrupts.h"
#include "orchestrator/process/process.h"
#include "orchestrator/process/tree.h"
#include "runs/queue/failures.h"
#include "runs/queue/machine_lock.h"

namespace nl::runs {
namespace {

// Looks after a run while it runs: is it still getting on, and is it alone on the GPU?
class RunWatch {
 public:
  // `gpu` may be null. 0 s: nothing counts as stalled.
  RunWatch(std::filesystem::path log, double stall_s, double look_s, GpuActivity* gpu);

  // Asked a few times a second. True: it has stalled, and is to be ended.
  bool must_end();

  bool stalled() const { return stalled_; }
  const std::vector<int>& intruders() const { return intruders_; }  // processes of others, on its GPUs while it ran

 private:
  using Clock = std::chrono::steady_clock;

  void look_for_intruders(const GpuReading& reading, const std::vector<int>& own);
  bool gets_on(const GpuReading& reading, double processor_s);

  std::filesystem::path log_;
  double stall_s_, look_s_;
  GpuActivity* gpu_;
  std::vector<int> intruders_, seen_before_;
  Clock::time_point looked_ = Clock::now(), got_on_ = looked_;
  std::uintmax_t log_bytes_ = 0;
  double processor_s_ = 0;
  bool stalled_ = false;
};

constexpr double kLeastProcessorShare = 0.01;  // of one processor: less is only waiting for something in a loop

double seconds_between(std::chrono::steady_clock::time_point from, std::chrono::steady_clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

bool contains(const std::vector<int>& list, int pid) { return std::find(list.begin(), list.end(), pid) != list.end(); }

RunWatch::RunWatch(std::filesystem::path log, double stall_s, double look_s, GpuActivity* gpu)
    : log_(std::move(log)), stall_s_(stall_s), look_s_(look_s), gpu_(gpu) {}

bool RunWatch::must_end() {
  const auto now = Clock::now();
  if (stalled_ || seconds_between(looked_, now) < look_s_) return stalled_;
  looked_ = now;
  const auto tree = descendants();
  std::vector<int> own;
  for (const TreeProcess& process : tree) own.push_back(process.pid);
  const GpuReading reading = gpu_ != nullptr ? gpu_->read() : GpuReading{};
  if (gpu_ != nullptr && gpu_->names_processes()) look_for_intruders(reading, own);
  if (gets_on(reading, processor_seconds(tree))) got_on_ = now;
  return stalled_ = stall_s_ > 0 && seconds_between(got_on_, now) > stall_s_;
}

// Twice in a row: a process of ours that has just ended is on the GPU's list a little longer than in the tree.
void RunWatch::look_for_intruders(const GpuReading& reading, const std::vector<int>& own) {
  std::vector<int> others;
  for (const int pid : reading.processes) {
    if (contains(own, pid)) continue;
    others.push_back(pid);
    if (contains(seen_before_, pid) && !contains(intruders_, pid)) intruders_.push_back(pid);
  }
  seen_before_ = std::move(others);
}

bool RunWatch::gets_on(const GpuReading& reading, double processor_s) {
  std::error_code failed;
  const auto bytes = std::filesystem::file_size(log_, failed);
  const bool wrote = !failed && bytes != log_bytes_;
  if (wrote) log_bytes_ = bytes;
  // Less than before: a process of the tree has come to its end.
  const bool computed = processor_s < processor_s_ || processor_s - processor_s_ > kLeastProcessorShare * stall_s_;
  if (computed) processor_s_ = processor_s;
  return wrote || computed || reading.utilisation.value_or(0) > 0;
}

using SteadyClock = std::chrono::steady_clock;

constexpr int kIdleReadings = 2;        // in a row: utilisation is the mean of up to a second
constexpr double kLeftoverSeconds = 3;  // between SIGTERM and SIGKILL

double elapsed_s(SteadyClock::time_point start) { return std::chrono::duration<double>(SteadyClock::now() - start).count(); }

void pause_or_signal(double seconds) {
  pollfd wake = {Interrupts::wake_fd(), POLLIN, 0};
  poll(&wake, 1, static_cast<int>(1000 * seconds));
  Interrupts::drain();
}

class QueueRunner {
 public:
  QueueRunner(const CommandQueue& queue, const QueueOptions& options, GpuActivity* gpu)
      : queue_(queue), failures_(queue), options_(options), gpu_(gpu) {}

  QueueResult run(const std::optional<MachineLock::Owner>& killed) {
    recover(killed);
    retry_remembered();
    while (!ended()) {
      if (queue_.is_empty()) {
        if (!options_.stay) break;
        pause_or_signal(options_.look_s);
        continue;
      }
      if (!wait_for_idle_gpu()) break;
      if (const auto entry = queue_.take()) run_entry(*entry);
    }
    result_.interrupt_signal = Interrupts::signal();
    return std::move(result_);
  }

 private:
  bool ended() const { return Interrupts::signal() != 0; }

  // Its entry is run again, so what is left of the first attempt must not run beside it.
  void recover(const std::optional<MachineLock::Owner>& killed) {
    if (killed) end_processes(processes_with(kLockHolderVariable, lock_holder(killed->pid, options_.lock)));
    for (const QueueEntry& entry : queue_.recover())
      queue_.log(fmt::format("REQUEUE {:06} attempt={} reason=\"its runner was killed\"", entry.number, entry.attempts));
  }

  // What failed in earlier sessions, as far as it may be tried again.
  void retry_remembered() {
    for (const QueueFailure& failure : failures_.list()) {
      if (failure.failures > options_.retry_failed || queue_.is_queued(failure.entry.number)) continue;
      queue_.add_again(failure.entry);
      queue_.log(fmt::format("RETRY {:06} failures={}", failure.entry.number, failure.failures));
    }
  }

  int failures_of(const QueueEntry& entry) const {
    const auto failure = failures_.of(entry.number);
    return failure ? failure->failures : 0;
  }

  void end_processes(const std::vector<TreeProcess>& left) {
    if (left.empty()) return;
    for (const TreeProcess& process : left)
      queue_.log(fmt::format("ENDED process {} {}: its runner was killed", process.pid, process.name));
    for (const TreeProcess& process : left) kill(process.pid, SIGTERM);
    const auto asked = SteadyClock::now();
    const auto living = [&] {
      return std::any_of(left.begin(), left.end(), [](const auto& process) { return kill(process.pid, 0) == 0; });
    };
    while (living() && elapsed_s(asked) < kLeftoverSeconds) pause_or_signal(0.05);
    for (const TreeProcess& process : left) kill(process.pid, SIGKILL);
  }

  bool wait_for_idle_gpu() {
    if (gpu_ == nullptr || options_.gpu_wait_s == 0) return true;
    const auto began = SteadyClock::now();
    for (int idle = 0; !ended();) {
      const GpuReading reading = gpu_->read();
      idle = is_idle(reading) ? idle + 1 : 0;
      if (idle >= kIdleReadings) return true;
      if (idle == 0) say_busy(reading);
      if (options_.gpu_wait_s > 0 && elapsed_s(began) > options_.gpu_wait_s) return !(result_.gpu_stayed_busy = true);
      pause_or_signal(options_.look_s);
    }
    return false;
  }

  void say_busy(const GpuReading& reading) {
    const std::string who =
        reading.processes.empty() ? fmt::format("{:.0f} % busy", 100 * reading.utilisation.value_or(0)) : process_names(reading.processes);
    if (who == busy_with_ || (!busy_with_.empty() && reading.processes.empty())) return;
    busy_with_ = who;
    queue_.log(fmt::format("WAIT for the GPU: {}", who));
  }

  ProcessSpec process_of(const QueueEntry& entry) const {
    ProcessSpec spec;
    spec.argv = {"/bin/sh", "-c", "exec 2>&1\n" + entry.command};
    spec.env = {{kLockHolderVariable, lock_holder(getpid(), options_.lock)}};
    spec.working_directory = entry.directory;
    spec.stdout_log = queue_.log_of(entry);
    spec.signal_group = true;  // a shell passes no signal on
    spec.label = fmt::format("{:06}", entry.number);
    return spec;
  }

  void run_entry(const QueueEntry& entry) {
    busy_with_.clear();
    EntryRecord record{entry, {}, 0, 0, queue_.log_of(entry), {}, false};
    if (entry.attempts - failures_of(entry) > options_.attempts) return give_up(std::move(record));
    queue_.log(fmt::format("START {:06} attempt={} log={} command={}", entry.number, entry.attempts, record.log.string(),
                           command_on_one_line(entry.command)));
    RunWatch watch(record.log, options_.stall_s, options_.look_s, gpu_);
    ProcessSpec spec = process_of(entry);
    spec.enough = [&] { return watch.must_end(); };
    try {
      const ProcessResult process = run_process(spec);
      record.exit_status = process.exit_status;
      record.seconds = static_cast<double>(process.duration_ns) * 1e-9;
      judge(record, process, watch);
    } catch (const Error& error) {  // its folder is gone
      record.outcome = EntryOutcome::kFailed;
      record.exit_status = 127;
      record.detail = error.message + ": " + error.where;
    }
    close_entry(std::move(record));
  }

  void judge(EntryRecord& record, const ProcessResult& process, const RunWatch& watch) const {
    if (process.interrupted) {
      record.outcome = EntryOutcome::kInterrupted;
    } else if (watch.stalled()) {
      record.outcome = EntryOutcome::kStalled;
      record.detail = fmt::format("no output, processor or GPU time for {:.0f} s", options_.stall_s);
    } else if (!watch.intruders().empty()) {
      record.outcome = EntryOutcome::kOverlapped;
      record.detail = "shared the GPU with " + process_names(watch.intruders());
    } else if (process.exit_status != 0) {
      record.outcome = EntryOutcome::kFailed;
    }
  }

  void give_up(EntryRecord record) {
    record.outcome = EntryOutcome::kGivenUp;
    record.detail = fmt::format("{} attempts were disturbed", options_.attempts);
    close_entry(std::move(record));
  }

  // What was disturbed or interrupted is run again. What failed by itself mostly fails again, so only as often as --retry-failed says.
  void close_entry(EntryRecord record) {
    const bool failed = record.outcome == EntryOutcome::kFailed || record.outcome == EntryOutcome::kStalled;
    const int failures = failures_of(record.entry) + (failed ? 1 : 0);
    const bool disturbed = record.outcome == EntryOutcome::kOverlapped && record.entry.attempts - failures < options_.attempts;
    record.queued_again = disturbed || record.outcome == EntryOutcome::kInterrupted || (failed && failures <= options_.retry_failed);
    if (record.outcome == EntryOutcome::kOk) failures_.forget(record.entry.number);
    else if (failed || record.outcome == EntryOutcome::kGivenUp || record.outcome == EntryOutcome::kOverlapped) remember(record);
    queue_.log(fmt::format("END {:06} attempt={} status={} outcome={} seconds={:.1f} log={}{}", record.entry.number, record.entry.attempts,
                           record.exit_status, outcome_name(record.outcome), record.seconds, record.log.string(),
                           record.detail.empty() ? "" : fmt::format(" reason=\"{}\"", record.detail)));
    if (record.queued_again) queue_.put_back(record.entry);
    else queue_.finish(record.entry);
    if (record.queued_again) queue_.log(fmt::format("REQUEUE {:06}", record.entry.number));
    result_.attempts.push_back(std::move(record));
  }

  // A disturbance that is tried again is no failure yet.
  void remember(const EntryRecord& record) {
    if (record.outcome == EntryOutcome::kOverlapped && record.queued_again) return;
    failures_.remember(record);
  }

  const CommandQueue& queue_;
  const QueueFailures failures_;
  const QueueOptions& options_;
  GpuActivity* gpu_;
  QueueResult result_;
  std::string busy_with_;
};

}  // namespace

std::string_view outcome_name(EntryOutcome outcome) {
  switch (outcome) {
    case EntryOutcome::kOk: return "ok";
    case EntryOutcome::kFailed: return "failed";
    case EntryOutcome::kStalled: return "stalled";
    case EntryOutcome::kOverlapped: return "overlapped";
    case EntryOutcome::kGivenUp: return "given_up";
    case EntryOutcome::kInterrupted: return "interrupted";
  }
  return "";
}

bool QueueResult::all_ok() const {
  return std::all_of(attempts.begin(), attempts.end(),
                     [](const EntryRecord& record) { return record.outcome == EntryOutcome::kOk || record.queued_again; });
}

QueueResult run_queue(const CommandQueue& queue, const QueueOptions& options, GpuActivity* gpu) {
  Interrupts interrupts;
  const auto lock = MachineLock::wait_for(options.lock, "queue " + queue.folder().string());
  if (!lock) return {{}, false, Interrupts::signal()};
  if (lock->held_above_us())
    throw Error(ErrorKind::kUsage, "an entry of a queue cannot run a queue", queue.folder().string(),
                "add to it with --enqueue: its runner takes the entry up");
  return QueueRunner(queue, options, gpu).run(lock->killed_owner());
}

}  // namespace nl::runs
