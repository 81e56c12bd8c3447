#include "cli/exit_status.h"

namespace nl::cli {
namespace {

constexpr ExitStatus kStatuses[] = {
    {"0", "what was asked for is done"},
    {"1", "an error in nl-stage; please report it"},
    {"2", "a wrong flag, argument or configuration"},
    {"3", "an input is missing, damaged or of another kind; a run is not known"},
    {"4", "a tool is missing, broken or not permitted"},
    {"5", "the workload was not found, or it failed"},
    {"6", "something that was planned is not captured"},
    {"7", "a pass exceeded its timeout"},
    {"8", "something cannot be written"},
    {"9", "the verdict is not the wanted one"},
    {"129, 130, 143", "it was interrupted: SIGHUP, SIGINT, SIGTERM"},
};

}  // namespace

std::span<const ExitStatus> exit_statuses() { return kStatuses; }

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
