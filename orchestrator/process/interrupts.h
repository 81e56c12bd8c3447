#pragma once

namespace nl::orchestrator {

// While one lives, Ctrl-C, SIGTERM and SIGHUP are noted instead of ending us, so that what was captured
// can still be written. May be nested; the previous handlers return with the last one. A signal that was
// ignored when we were started (nohup, a shell's background job) stays ignored.
class Interrupts {
 public:
  Interrupts();
  ~Interrupts();
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;

  static int signal();   // the first that came since the outermost scope began, 0: none
  static int count();    // how many came
  static int wake_fd();  // readable after a signal, SIGCHLD included
  static void drain();   // empties wake_fd()

  static void obey();  // ends us by the signal that came, if one came: there is nothing to be kept yet

  // While nl-stage does not wait for a child, a second signal ends it at once.
  static void set_supervising(bool supervising);
};

}  // namespace nl::orchestrator
