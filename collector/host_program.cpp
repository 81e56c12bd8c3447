#include "collector/host_program.h"

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <initializer_list>

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

const char* text_from(const char* variable) {
  const char* text = std::getenv(variable);
  return text != nullptr && *text != '\0' ? text : nullptr;
}

const char* kept_text_from(const char* variable) {
  static char kept[64 * 1024];
  static std::size_t used = 0;  // only while the collector starts, which one thread does
  const char* text = text_from(variable);
  if (text == nullptr || std::strlen(text) >= sizeof kept - used) return nullptr;
  char* copy = kept + used;
  used += std::strlen(text) + 1;
  return std::strcpy(copy, text);
}

long number_from(const char* variable, long otherwise, long least, long most) {
  const char* text = text_from(variable);
  if (text == nullptr) return otherwise;
  char* end = nullptr;
  long value = std::strtol(text, &end, 10);
  return *end != '\0' || value < least || value > most ? otherwise : value;
}

void remember_stderr() { known = fstat(STDERR_FILENO, &stderr_then) == 0; }

void tell_user(const char* line) {
  if (unchanged()) write_quietly(line);
}

bool run_in_background(void* (*work)(void*)) {
  constexpr std::size_t kStackBytes = 8 * 1024 * 1024;  // the program may have made its threads' stacks small, and CUPTI runs on it
  sigset_t all, before;
  sigfillset(&all);
  for (int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL}) sigdelset(&all, fault);  // blocked ones would end it without a word
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_attr_setstacksize(&attributes, kStackBytes);
  pthread_t thread;
  bool started = pthread_create(&thread, &attributes, work, nullptr) == 0;
  pthread_attr_destroy(&attributes);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return started;
}

}  // namespace nl::collector
