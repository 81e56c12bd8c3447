#include "orchestrator/capture/verdict.h"

#include <csignal>

namespace nl::orchestrator {
namespace {

// The exit status tells one thing only: what the user has to mend first.
int gravity(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kInterrupted: return 9;
    case ErrorKind::kOutput: return 8;
    case ErrorKind::kInternal: return 7;
    case ErrorKind::kTimeout: return 6;
    case ErrorKind::kWorkload: return 5;
    case ErrorKind::kTool: return 4;
    case ErrorKind::kInput: return 3;
    case ErrorKind::kCapture: return 2;
    case ErrorKind::kUsage:
    case ErrorKind::kConfig: return 1;
  }
  return 0;
}

}  // namespace

void Verdict::add(ErrorKind kind, std::string what, std::string where, std::string fix) {
  problems_.push_back({std::move(what), std::move(where), std::move(fix)});
  if (!failure_ || gravity(kind) > gravity(*failure_)) failure_ = kind;
}

void Verdict::add(const Error& error) { add(error.kind, error.message, error.where, error.fix); }

void Verdict::interrupted(int signal) {
  if (interrupt_signal_ != 0) return;
  interrupt_signal_ = signal;
  add(ErrorKind::kInterrupted, signal == SIGINT ? "interrupted by Ctrl-C" : "ended by a signal from outside",
      signal == SIGINT    ? "SIGINT"
      : signal == SIGTERM ? "SIGTERM"
                          : "SIGHUP",
      "what was captured until then has been kept");
}

bool Verdict::stopped() const {
  return failure_ == ErrorKind::kInterrupted || failure_ == ErrorKind::kTimeout || interrupt_signal_ != 0;
}

RunStatus Verdict::status(bool captured_something) const {
  if (!failure_) return RunStatus::kComplete;
  if (stopped()) return RunStatus::kInterrupted;
  if (*failure_ == ErrorKind::kWorkload || !captured_something) return RunStatus::kFailed;
  return RunStatus::kPartial;
}

}  // namespace nl::orchestrator
