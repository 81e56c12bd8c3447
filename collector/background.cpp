#include "collector/background.h"

#include <cstddef>
#include <initializer_list>

#include <pthread.h>
#include <signal.h>

namespace nl::collector {

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
