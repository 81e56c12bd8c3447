#include "orchestrator/process/interrupts.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstring>

#include "model/error.h"

namespace nl::orchestrator {
namespace {

constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP, SIGCHLD, SIGPIPE};

int depth = 0;
int wake_pipe[2] = {-1, -1};
struct sigaction previous[std::size(kSignals)];
std::atomic<int> first_signal{0}, signal_count{0};
std::atomic<int> supervising{0};
static_assert(std::atomic<int>::is_always_lock_free, "used inside a signal handler");

void on_signal(int number) {
  int saved_errno = errno;
  if (number != SIGCHLD) {
    int none = 0;
    // A server that is killed may send its SIGINT (own_verb.cpp) once for each thread that the kernel makes our next parent: one is enough.
    if (first_signal.compare_exchange_strong(none, number)) ::prctl(PR_SET_PDEATHSIG, 0);
    if (signal_count.fetch_add(1) >= 1 && supervising == 0) {
      std::signal(number, SIG_DFL);
      raise(number);
    }
  }
  char byte = 0;
  [[maybe_unused]] auto written = write(wake_pipe[1], &byte, 1);
  errno = saved_errno;
}

void install() {
  if (pipe2(wake_pipe, O_CLOEXEC | O_NONBLOCK) != 0)
    throw Error(ErrorKind::kInternal, std::string("cannot make a pipe: ") + std::strerror(errno));
  first_signal = 0;
  signal_count = 0;
  for (std::size_t i = 0; i < std::size(kSignals); ++i) {
    struct sigaction action = {};
    sigemptyset(&action.sa_mask);
    action.sa_flags = SA_RESTART;
    // A closed pipe on our own output must not end us while processes of ours run.
    action.sa_handler = kSignals[i] == SIGPIPE ? SIG_IGN : on_signal;
    sigaction(kSignals[i], nullptr, &previous[i]);
    bool ignored = previous[i].sa_handler == SIG_IGN && kSignals[i] != SIGCHLD;
    if (!ignored) sigaction(kSignals[i], &action, nullptr);
  }
}

}  // namespace

Interrupts::Interrupts() {
  if (depth++ == 0) install();
}

Interrupts::~Interrupts() {
  if (--depth > 0) return;
  for (std::size_t i = 0; i < std::size(kSignals); ++i) sigaction(kSignals[i], &previous[i], nullptr);
  close(wake_pipe[0]);
  close(wake_pipe[1]);
}

void Interrupts::obey() {
  const int number = signal();
  if (number == 0) return;
  std::signal(number, SIG_DFL);
  raise(number);
}

int Interrupts::signal() { return depth > 0 ? first_signal.load() : 0; }
int Interrupts::count() { return signal_count; }
int Interrupts::wake_fd() { return wake_pipe[0]; }

void Interrupts::drain() {
  char bytes[64];
  while (::read(wake_pipe[0], bytes, sizeof bytes) > 0) {
  }
}

void Interrupts::set_supervising(bool value) { supervising += value ? 1 : -1; }

}  // namespace nl::orchestrator
