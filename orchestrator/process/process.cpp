#include "orchestrator/process/process.h"

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>

#include "orchestrator/process/interrupts.h"
#include "orchestrator/process/output.h"
#include "orchestrator/process/start.h"
#include "orchestrator/process/tree.h"

namespace nl::orchestrator {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

constexpr double kAskSeconds = 0.2;      // between two questions whether it is enough
constexpr double kSettleSeconds = 1;     // for what ends by itself just after argv[0]
constexpr double kTerminateSeconds = 3;  // between SIGTERM and SIGKILL for the rest of the tree
constexpr double kGiveUpSeconds = 10;    // after SIGKILL: a process stuck in the kernel cannot be ended

Forward forwarding(const ProcessSpec& spec) {
  if (!spec.forward_output) return Forward::kNothing;
  return spec.hide_chatter ? Forward::kWithoutChatter : Forward::kAll;
}

class Supervision {
 public:
  explicit Supervision(const ProcessSpec& spec)
      : spec_(spec), before_(pids_before()), child_(start_process(spec)), out_(child_.stdout_fd, spec.stdout_log, forwarding(spec)),
        err_(child_.stderr_fd, spec.stderr_log, forwarding(spec)), progress_(spec.label, spec.expected_s) {}

  ProcessResult run() {
    while (!finished()) {
      wait_for_news();
      out_.pump(progress_);
      err_.pump(progress_);
      reap();
      heed_interrupts();
      heed_clock();
      progress_.update(seconds_since(started_));
    }
    out_.pump(progress_);
    err_.pump(progress_);
    progress_.finish(static_cast<double>(result_.duration_ns) * 1e-9);
    return result();
  }

 private:
  enum class Phase { kRunning, kSettling, kPolite, kEndingTarget, kTerminating, kKilling };

  static std::set<pid_t> pids_before() {
    std::set<pid_t> pids;
    for (const auto& process : descendants()) pids.insert(process.pid);
    return pids;
  }

  bool finished() const { return (main_ended_ && tree_empty_) || given_up_; }

  void wait_for_news() {
    pollfd fds[3];
    nfds_t count = 0;
    fds[count++] = {Interrupts::wake_fd(), POLLIN, 0};
    if (out_.open()) fds[count++] = {out_.fd(), POLLIN, 0};
    if (err_.open()) fds[count++] = {err_.fd(), POLLIN, 0};
    poll(fds, count, main_ended_ || phase_ != Phase::kRunning ? 20 : 200);
    Interrupts::drain();
  }

  void reap() {
    int status = 0;
    for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;) {
      if (pid != child_.pid) continue;
      main_ended_ = true;
      result_.term_signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
      result_.exit_status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
      result_.duration_ns = std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - started_).count();
      const bool asked = phase_ == Phase::kPolite || phase_ == Phase::kEndingTarget;
      if (asked || (phase_ == Phase::kRunning && !spec_.wait_for_tree)) enter(Phase::kSettling);
    }
    if (main_ended_) tree_empty_ = descendants(before_).empty();
    if (main_ended_ && !tree_empty_ && result_.term_signal != 0 && !signalled_ && spec_.on_orphaned && !rescued_) {
      rescued_ = true;
      spec_.on_orphaned(child_.pid);
      phase_start_ = Clock::now();
    }
  }

  void heed_interrupts() {
    const int seen = Interrupts::count();
    if (seen == interrupts_seen_) return;
    interrupts_seen_ = seen;
    if (!result_.interrupted) {
      result_.interrupted = true;
      result_.interrupt_signal = Interrupts::signal();
      if (phase_ == Phase::kRunning) end_politely();
    } else {
      enter(phase_ == Phase::kTerminating ? Phase::kKilling : Phase::kTerminating);
    }
  }

  void heed_clock() {
    const double in_phase = seconds_since(phase_start_);
    switch (phase_) {
      case Phase::kRunning:
        if (spec_.timeout_s > 0 && in_phase > spec_.timeout_s) {
          result_.timed_out = true;
          end_politely();
        } else if (spec_.enough && !main_ended_ && due_to_ask() && spec_.enough()) {
          result_.had_enough = true;
          end_politely();
        }
        break;
      case Phase::kSettling:
        if (in_phase > kSettleSeconds && !tree_empty_) enter(Phase::kTerminating);
        break;
      case Phase::kPolite:
        if (in_phase > spec_.grace_s) enter(spec_.profiler ? Phase::kEndingTarget : Phase::kTerminating);
        break;
      case Phase::kEndingTarget:
        if (in_phase > spec_.grace_s) enter(Phase::kTerminating);
        break;
      case Phase::kTerminating:
        if (in_phase > kTerminateSeconds) enter(Phase::kKilling);
        break;
      case Phase::kKilling:
        signal_tree(SIGKILL);  // again and again: one may have forked in between
        given_up_ = in_phase > kGiveUpSeconds;
        break;
    }
  }

  // To look at many files takes time: output may come much more often.
  bool due_to_ask() {
    if (seconds_since(asked_) < kAskSeconds) return false;
    asked_ = Clock::now();
    return true;
  }

  void end_politely() {
    if (main_ended_) return enter(Phase::kTerminating);
    signalled_ = true;
    kill(spec_.signal_group ? -child_.pid : child_.pid, spec_.polite_signal);
    enter(Phase::kPolite);
  }

  void enter(Phase next) {
    phase_ = next;
    phase_start_ = Clock::now();
    if (next == Phase::kEndingTarget) end_target();
    if (next == Phase::kTerminating) {
      if (main_ended_) note_leftovers();
      signal_tree(SIGTERM);
      signal_tree(SIGCONT);  // a stopped process would not see it
    }
    if (next == Phase::kKilling) signal_tree(SIGKILL);
  }

  // nsys waits for its target, and for children that the target left behind: it may be them that do not end.
  void end_target() {
    for (const auto& process : descendants(before_))
      if (!is_profiler(process)) kill(process.pid, SIGKILL);
  }

  void note_leftovers() {
    for (const auto& process : descendants(before_)) result_.leftovers_killed.push_back(std::to_string(process.pid) + " " + process.name);
  }

  void signal_tree(int number) {
    for (const auto& process : descendants(before_)) kill(process.pid, number);
  }

  ProcessResult result() {
    result_.stdout_text = out_.tail();
    result_.stderr_text = err_.tail();
    result_.log_error = !out_.log_error().empty() ? out_.log_error() : err_.log_error();
    return std::move(result_);
  }

  const ProcessSpec& spec_;
  int interrupts_seen_ = Interrupts::count();  // before the start, so that none in between is missed
  std::set<pid_t> before_;
  StartedProcess child_;
  OutputTee out_, err_;
  ProgressLine progress_;
  ProcessResult result_;
  Phase phase_ = Phase::kRunning;
  Clock::time_point started_ = Clock::now(), phase_start_ = started_, asked_ = started_;
  bool main_ended_ = false, tree_empty_ = false, given_up_ = false, signalled_ = false, rescued_ = false;
};

struct Supervising {
  Supervising() { Interrupts::set_supervising(true); }
  ~Supervising() { Interrupts::set_supervising(false); }
};

}  // namespace

ProcessResult run_process(const ProcessSpec& spec) {
  Interrupts interrupts;
  Subreaper subreaper;
  Supervising supervising;
  return Supervision(spec).run();
}

}  // namespace nl::orchestrator
