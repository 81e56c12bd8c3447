#include "orchestrator/process/process.h"

// We supervise by process id ourselves; an old kernel without pidfd_open must not matter.
#define BOOST_PROCESS_V2_DISABLE_PIDFD_OPEN
#include <boost/asio/io_context.hpp>
#include <boost/process/v2/posix/default_launcher.hpp>
#include <boost/process/v2/process.hpp>
#include <boost/process/v2/start_dir.hpp>
#include <boost/process/v2/stdio.hpp>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "model/visible_text.h"
#include "orchestrator/process/interrupts.h"
#include "orchestrator/process/output.h"
#include "orchestrator/process/rank_watch.h"
#include "orchestrator/process/tree.h"

extern char** environ;

namespace fs = std::filesystem;

namespace nl::orchestrator {
namespace {

namespace bp = boost::process::v2;

struct Pipe {
  int ends[2] = {-1, -1};
  Pipe() {
    if (pipe2(ends, O_CLOEXEC) != 0) throw Error(ErrorKind::kInternal, fmt::format("cannot make a pipe: {}", std::strerror(errno)));
  }
  ~Pipe() {
    for (int end : ends)
      if (end >= 0) close(end);
  }
  int release_reader() {
    int reader = ends[0];
    ends[0] = -1;
    fcntl(reader, F_SETFL, O_NONBLOCK);
    return reader;
  }
};

// Boost waits for SIGCHLD itself while it has a process, and leaves the default behind: ours would no longer wake the supervision, which
// would see the end of a process up to 200 ms late. A signal for a process that ended meanwhile is sent again.
class ChildSignal {
 public:
  ChildSignal() { sigaction(SIGCHLD, nullptr, &before_); }
  ~ChildSignal() {
    sigaction(SIGCHLD, &before_, nullptr);
    raise(SIGCHLD);
  }
  ChildSignal(const ChildSignal&) = delete;
  ChildSignal& operator=(const ChildSignal&) = delete;

 private:
  struct sigaction before_ = {};
};

// What happens in the child between fork and exec.
struct ChildSetup {
  int polite_signal;
  template <typename Launcher, typename Path, typename Args>
  boost::system::error_code on_exec_setup(Launcher&, const Path&, Args&&) {
    setpgid(0, 0);  // the terminal's Ctrl-C reaches us alone; we pass it on in the right order
    prctl(PR_SET_PDEATHSIG, polite_signal);
    for (int number : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) std::signal(number, SIG_DFL);
    return {};
  }
  // Boost would leave by exit(), which flushes our stdio buffers a second time. Variadic, because its
  // versions disagree on the arguments.
  template <typename... Args>
  void on_exec_error(Args&&...) {
    _exit(127);
  }
};

std::vector<std::string> child_environment(const ProcessSpec& spec) {
  std::map<std::string, std::string> merged = own_environment();
  for (const auto& name : spec.unset_env) merged.erase(name);
  for (const auto& [name, value] : spec.env) merged[name] = value;
  for (const auto& [name, value] : spec.prepend_env) {
    std::string& all = merged[name];
    all = all.empty() ? value : value + ":" + all;
  }
  std::vector<std::string> out;
  for (const auto& [name, value] : merged) out.push_back(name + "=" + value);
  return out;
}

struct StartedProcess {
  pid_t pid = 0;
  int stdout_fd = -1, stderr_fd = -1;  // our ends, non-blocking; the caller closes them
};

// In a process group of its own, with an empty standard input, asked to end should we die.
StartedProcess start_process(const ProcessSpec& spec) {
  const auto path = spec.env.find("PATH");
  const fs::path program = find_executable(spec.argv.empty() ? "" : spec.argv[0], spec.working_directory, spec.not_found,
                                           path == spec.env.end() ? std::string() : path->second);
  const std::vector<std::string> arguments(spec.argv.begin() + 1, spec.argv.end());
  const auto environment = child_environment(spec);
  const fs::path directory = spec.working_directory.empty() ? fs::current_path() : spec.working_directory;
  const ChildSignal kept;
  Pipe out, err;
  boost::asio::io_context context;
  boost::system::error_code failure;
  bp::posix::default_launcher launcher;
  std::vector<const char*> envp;
  for (const auto& entry : environment) envp.push_back(entry.c_str());
  envp.push_back(nullptr);
  launcher.env = envp.data();
  auto process = launcher(context.get_executor(), failure, bp::filesystem::path(program.string()), arguments,
                          bp::process_stdio{nullptr, out.ends[1], err.ends[1]}, bp::process_start_dir(directory.string()),
                          ChildSetup{spec.polite_signal});
  if (failure) {
    if (launcher.pid > 0) waitpid(launcher.pid, nullptr, 0);
    throw Error(spec.not_found, fmt::format("{} could not be started: {}", spec.argv[0], failure.message()), program.string(),
                "check that it is built for this machine and that its interpreter exists");
  }
  StartedProcess started{launcher.pid, out.release_reader(), err.release_reader()};
  process.detach();
  return started;
}

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

constexpr double kAskSeconds = 0.2;       // between two questions whether it is enough
constexpr double kLookSeconds = 0.25;     // between two looks at what outlives argv[0]
constexpr double kNamedAfterSeconds = 2;  // what a program leaves for a moment is not worth a word
constexpr double kWorkingShare = 0.1;     // of a processor: what uses less does nothing, or polls
constexpr double kSettleSeconds = 1;      // for what ends by itself just after argv[0]
constexpr double kTerminateSeconds = 3;   // between SIGTERM and SIGKILL for the rest of the tree
constexpr double kGiveUpSeconds = 10;     // after SIGKILL: a process stuck in the kernel cannot be ended

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
      if (spec_.note_ranks && phase_ == Phase::kRunning) ranks_.look_if_due(before_);
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
        if (main_ended_) watch_leftovers();
        if (phase_ != Phase::kRunning) break;
        if (spec_.timeout_s > 0 && in_phase > spec_.timeout_s) {
          result_.timed_out = !main_ended_ || leftovers_work_;  // what does nothing holds up nothing
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

  // What argv[0] left behind may be its workers, or a server that waits for ever. Those that work are waited for.
  void watch_leftovers() {
    if (seconds_since(looked_) < kLookSeconds) return;
    looked_ = Clock::now();
    const auto left = descendants(before_);
    if (left.empty()) return;
    const double used_s = processor_seconds(left);
    if (!first_left_) first_left_ = Clock::now();
    if (!leftovers_named_ && seconds_since(*first_left_) >= std::min(kNamedAfterSeconds, spec_.leftover_s / 2)) name_leftovers(left);
    const double waited_s = left_at_ ? seconds_since(*left_at_) : 0;
    // On a busy machine what works may get little of a processor; then it waits for one whenever we look.
    ++looks_;
    running_looks_ += std::any_of(left.begin(), left.end(), [](const TreeProcess& process) { return process.runs; }) ? 1 : 0;
    leftovers_work_ = used_s - left_used_s_ > kWorkingShare * waited_s || 2 * running_looks_ > looks_;
    if (!left_at_ || leftovers_work_) {
      left_at_ = Clock::now();
      left_used_s_ = used_s;
      looks_ = running_looks_ = 0;
    } else if (waited_s > spec_.leftover_s) {
      enter(Phase::kTerminating);
    }
  }

  void name_leftovers(const std::vector<TreeProcess>& left) {
    leftovers_named_ = true;
    std::string names;
    for (const TreeProcess& process : left)
      names += fmt::format("{}{} {}", names.empty() ? "" : ", ", process.pid, visible_line(process.name));
    progress_.add(fmt::format("waiting for {}", names));
    if (!spec_.forward_output) return;
    progress_.erase();
    fmt::print(stderr,
               "note:  the program has ended; nl-stage waits for what it left running: {}. What does nothing for {:g} s is ended.\n", names,
               spec_.leftover_s);
  }

  // Looking at many files takes time, and output may come much more often.
  bool due_to_ask() {
    if (seconds_since(asked_) < kAskSeconds) return false;
    asked_ = Clock::now();
    return true;
  }

  void end_politely() {
    if (spec_.note_ranks) ranks_.look(before_);
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
    result_.ranks = ranks_.take();
    result_.log_error = !out_.log_error().empty() ? out_.log_error() : err_.log_error();
    return std::move(result_);
  }

  const ProcessSpec& spec_;
  int interrupts_seen_ = Interrupts::count();  // before the start, so that none in between is missed
  std::set<pid_t> before_;
  StartedProcess child_;
  OutputTee out_, err_;
  ProgressLine progress_;
  RankWatch ranks_;
  ProcessResult result_;
  Phase phase_ = Phase::kRunning;
  Clock::time_point started_ = Clock::now(), phase_start_ = started_, asked_ = started_;
  Clock::time_point looked_;
  std::optional<Clock::time_point> first_left_;  // when something was found to be left
  std::optional<Clock::time_point> left_at_;     // since when the leftovers have done nothing
  bool leftovers_named_ = false;
  double left_used_s_ = 0;
  int looks_ = 0, running_looks_ = 0;  // since then
  bool leftovers_work_ = false;
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
  sampling::StackSampler sampler(spec.sample_stacks);  // of what this thread starts from here on
  ProcessResult result = Supervision(spec).run();
  result.stacks = sampler.finish();
  return result;
}

std::map<std::string, std::string> own_environment() {
  std::map<std::string, std::string> variables;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const auto equals = text.find('=');
    if (equals != std::string_view::npos) variables.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return variables;
}

bool is_executable_file(const fs::path& path) {
  std::error_code failed;
  return fs::is_regular_file(path, failed) && access(path.c_str(), X_OK) == 0;
}

fs::path find_executable(const std::string& name, const fs::path& directory, ErrorKind kind, const std::string& search_path) {
  if (name.empty()) throw Error(kind, "no program was given to run", {}, "give the command after --");
  if (name.find('/') != std::string::npos) {
    fs::path file = directory.empty() ? fs::path(name) : directory / name;
    if (is_executable_file(file)) return fs::absolute(file);
    std::error_code ignored;
    bool exists = fs::exists(file, ignored);
    throw Error(kind, fmt::format("{} {}", name, exists ? "is not an executable file" : "was not found"), file.string(),
                exists ? fmt::format("chmod +x {}, or start its interpreter: python3 {}", name, name)
                       : "check the path; it is taken relative to the working directory");
  }
  const char* ours = std::getenv("PATH");
  std::string path = !search_path.empty() ? search_path : ours != nullptr ? ours : "/usr/local/bin:/usr/bin:/bin";
  for (std::size_t start = 0; start <= path.size();) {
    std::size_t end = std::min(path.find(':', start), path.size());
    fs::path folder = end == start ? fs::path(".") : fs::path(path.substr(start, end - start));
    if (is_executable_file(folder / name)) return fs::absolute(folder / name);
    start = end + 1;
  }
  throw Error(kind, fmt::format("{} was not found in PATH", name), name, "give its full path");
}

}  // namespace nl::orchestrator
