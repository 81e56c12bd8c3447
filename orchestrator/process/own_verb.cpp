#include "orchestrator/process/own_verb.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <optional>
#include <utility>

#include "model/error.h"
#include "orchestrator/process/progress_pipe.h"

namespace nl::orchestrator {
namespace {

constexpr std::size_t kKeptErrors = 16 << 10;
constexpr int kProgressFd = 3;  // in the child
constexpr int kLookMs = 200;    // a child whose descendant holds its output open is noticed so late

[[noreturn]] void refuse_start(const char* what) {
  throw Error(ErrorKind::kInternal, std::string(what) + ": " + std::strerror(errno), "nl-stage",
              "see what the limits on processes and files are");
}

class Fd {
 public:
  explicit Fd(int fd = -1) : fd_(fd) {}
  ~Fd() { reset(); }
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&&) = delete;
  int get() const { return fd_; }
  void reset() {
    if (fd_ >= 0) ::close(std::exchange(fd_, -1));
  }

 private:
  int fd_;
};

struct OutputPipe {
  Fd read, write;
};

OutputPipe make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) refuse_start("cannot make a pipe");
  ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
  return {Fd(ends[0]), Fd(ends[1])};
}

// Everything that the child needs, made before the fork: between fork and exec nothing may take memory.
struct Prepared {
  std::vector<std::string> environment;
  std::vector<char*> argv, envp;
  std::string program, directory;
  int out = -1, err = -1, progress = -1;
  pid_t parent = 0;
};

std::vector<std::string> environment_of_child() {
  std::vector<std::string> variables;
  const std::string name = std::string(kProgressVariable) + "=";
  for (char** each = environ; *each != nullptr; ++each)
    if (std::string_view(*each).substr(0, name.size()) != name) variables.emplace_back(*each);
  variables.push_back(name + std::to_string(kProgressFd));
  return variables;
}

// A server that was started in the background of a shell ignores Ctrl-C, and its threads may block signals: the verb must not.
void restore_signals() {
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGCHLD}) ::signal(number, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

// The descriptors that it gets may have the numbers of those that they become: they are moved out of the way first.
bool put_descriptors(const Prepared& child) {
  const int null = ::open("/dev/null", O_RDONLY);
  std::array<std::pair<int, int>, 4> all = {
      {{null, STDIN_FILENO}, {child.out, STDOUT_FILENO}, {child.err, STDERR_FILENO}, {child.progress, kProgressFd}}};
  for (auto& [from, to] : all) from = ::fcntl(from, F_DUPFD, kProgressFd + 1);
  for (const auto& [from, to] : all)
    if (from < 0 || ::dup2(from, to) < 0) return false;
  ::syscall(SYS_close_range, kProgressFd + 1, ~0U, 0);
  return true;
}

[[noreturn]] void become_verb(const Prepared& child) {
  ::prctl(PR_SET_PDEATHSIG, SIGINT);
  if (::getppid() != child.parent) ::_exit(127);  // we died meanwhile
  ::setpgid(0, 0);                                // Ctrl-C on our terminal reaches it through us, once
  restore_signals();
  if (!put_descriptors(child) || (!child.directory.empty() && ::chdir(child.directory.c_str()) != 0)) ::_exit(126);
  ::execve(child.program.c_str(), child.argv.data(), child.envp.data());
  ::_exit(126);
}

// The child closes its descriptors once it treats signals as a verb does: one that is sent before would be lost where we ignore it.
void wait_for_end_of(const Fd& pipe) {
  constexpr int kMostMs = 5000;
  pollfd end{pipe.get(), POLLIN, 0};
  while (::poll(&end, 1, kMostMs) < 0 && errno == EINTR) {
  }
}

class Child {
 public:
  explicit Child(const OwnVerb& verb) : verb_(verb), wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) { start(); }

  OwnVerbEnd finish() {
    const std::stop_callback wakes(verb_.stop, [this] { ::eventfd_write(wake_.get(), 1); });
    while (!ended()) {
      wait_for_something();
      if (verb_.stop.stop_requested()) ask_to_end();
    }
    while (pump(out_.read, &Child::take_out) || pump(err_.read, &Child::take_err) || pump(progress_.read, &Child::take_progress)) {
    }
    return std::move(end_);
  }

 private:
  void start() {
    std::vector<std::string> words = verb_.words;
    words.insert(words.begin(), "nl-stage");
    Prepared child;
    child.environment = environment_of_child();
    for (std::string& word : words) child.argv.push_back(word.data());
    for (std::string& variable : child.environment) child.envp.push_back(variable.data());
    child.argv.push_back(nullptr);
    child.envp.push_back(nullptr);
    child.program = verb_.program.string();
    child.directory = verb_.directory.string();
    child.out = out_.write.get();
    child.err = err_.write.get();
    child.progress = progress_.write.get();
    child.parent = ::getpid();
    OutputPipe started = make_pipe();
    pid_ = ::fork();
    if (pid_ < 0) refuse_start("cannot start a process");
    if (pid_ == 0) become_verb(child);
    started.write.reset();
    wait_for_end_of(started.read);
    out_.write.reset();
    err_.write.reset();
    progress_.write.reset();
  }

  bool ended() {
    int status = 0;
    const pid_t found = ::waitpid(pid_, &status, WNOHANG);
    if (found == 0 || (found < 0 && errno == EINTR)) return false;
    end_.exit_status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    return true;
  }

  void wait_for_something() {
    std::array<pollfd, 4> ends = {pollfd{out_.read.get(), POLLIN, 0}, pollfd{err_.read.get(), POLLIN, 0},
                                  pollfd{progress_.read.get(), POLLIN, 0}, pollfd{wake_.get(), POLLIN, 0}};
    ::poll(ends.data(), ends.size(), out_.read.get() < 0 && err_.read.get() < 0 ? kShortMs : kLookMs);
    std::uint64_t ignored = 0;
    [[maybe_unused]] const auto woken = ::read(wake_.get(), &ignored, sizeof ignored);
    pump(out_.read, &Child::take_out);
    pump(err_.read, &Child::take_err);
    pump(progress_.read, &Child::take_progress);
  }

  // False: nothing came. An end that is reached is closed.
  bool pump(Fd& fd, void (Child::*take)(std::string_view)) {
    std::array<char, 65536> buffer{};
    if (fd.get() < 0) return false;
    const ssize_t size = ::read(fd.get(), buffer.data(), buffer.size());
    if (size > 0) (this->*take)({buffer.data(), static_cast<std::size_t>(size)});
    if (size == 0) fd.reset();
    return size > 0;
  }

  void take_out(std::string_view data) {
    if (end_.too_long) return;
    end_.out += data;
    if (end_.out.size() <= verb_.most_bytes) return;
    end_.too_long = true;
    std::string().swap(end_.out);
    ::kill(pid_, SIGTERM);
  }

  void take_err(std::string_view data) {
    end_.err += data;
    if (end_.err.size() > 2 * kKeptErrors) end_.err.erase(0, end_.err.size() - kKeptErrors);
  }

  void take_progress(std::string_view data) {
    told_ += data;
    for (std::size_t end; (end = told_.find('\n')) != std::string::npos; told_.erase(0, end + 1))
      if (verb_.progress) verb_.progress(std::string_view(told_).substr(0, end));
  }

  // SIGINT once: a second one would end a run without its bundle.
  void ask_to_end() {
    if (!asked_) {
      asked_ = std::chrono::steady_clock::now();
      ::kill(pid_, SIGINT);
    } else if (verb_.grace_s > 0 && std::chrono::steady_clock::now() - *asked_ > std::chrono::duration<double>(verb_.grace_s)) {
      ::kill(pid_, SIGKILL);
    }
  }

  static constexpr int kShortMs = 5;  // both outputs are closed: it ends now

  const OwnVerb& verb_;
  OutputPipe out_ = make_pipe(), err_ = make_pipe(), progress_ = make_pipe();
  Fd wake_;
  pid_t pid_ = -1;
  std::optional<std::chrono::steady_clock::time_point> asked_;
  std::string told_;
  OwnVerbEnd end_;
};

}  // namespace

OwnVerbEnd run_own_verb(const OwnVerb& verb) { return Child(verb).finish(); }

}  // namespace nl::orchestrator
