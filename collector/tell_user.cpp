#include "collector/tell_user.h"

#include <cerrno>
#include <cstring>
#include <ctime>

#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

namespace nl::collector {
namespace {

struct stat stderr_then{};
bool known = false;

bool unchanged() {
  struct stat now{};
  return fstat(STDERR_FILENO, &now) == 0 && (!known || (now.st_dev == stderr_then.st_dev && now.st_ino == stderr_then.st_ino));
}

// A reader that has gone must not cost the program a SIGPIPE.
void write_quietly(const char* line) {
  sigset_t pipe, before, pending;
  sigemptyset(&pipe);
  sigaddset(&pipe, SIGPIPE);
  sigpending(&pending);
  bool was_pending = sigismember(&pending, SIGPIPE) == 1;
  pthread_sigmask(SIG_BLOCK, &pipe, &before);
  ssize_t written = write(STDERR_FILENO, line, std::strlen(line));
  timespec at_once{};
  if (written < 0 && errno == EPIPE && !was_pending) sigtimedwait(&pipe, nullptr, &at_once);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace

void remember_stderr() { known = fstat(STDERR_FILENO, &stderr_then) == 0; }

void tell_user(const char* line) {
  if (unchanged()) write_quietly(line);
}

}  // namespace nl::collector
