#include "cli/exit_status.h"

namespace nl::cli {

int exit_status_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kInternal: return 1;
    case ErrorKind::kUsage:
    case ErrorKind::kConfig: return 2;
    case ErrorKind::kInput: return 3;
    case ErrorKind::kTool: return 4;
    case ErrorKind::kWorkload: return 5;
    case ErrorKind::kCapture: return 6;
    case ErrorKind::kTimeout: return 7;
    case ErrorKind::kOutput: return 8;
    case ErrorKind::kInterrupted: return 130;
  }
  return 1;
}

int exit_status_of(std::optional<ErrorKind> failure, int interrupt_signal) {
  if (interrupt_signal != 0) return 128 + interrupt_signal;
  return failure ? exit_status_of(*failure) : 0;
}

}  // namespace nl::cli
