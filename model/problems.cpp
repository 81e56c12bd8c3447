#include "model/problems.h"

#include "model/words.h"

namespace nl {
namespace {

// The exit status tells one thing only: what the user has to fix first.
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

bool ended_early(const std::optional<ErrorKind>& failure) { return failure == ErrorKind::kInterrupted || failure == ErrorKind::kTimeout; }

std::optional<ErrorKind> gravest(const std::vector<Problem>& problems) {
  std::optional<ErrorKind> worst;
  for (const Problem& problem : problems)
    if (words_of(problem.code).severity == Severity::kHigh && (!worst || gravity(problem.kind) > gravity(*worst))) worst = problem.kind;
  return worst;
}

RunStatus status_of(const std::vector<Problem>& problems, bool captured_something) {
  const auto failure = gravest(problems);
  if (!failure) return RunStatus::kComplete;
  if (ended_early(failure)) return RunStatus::kInterrupted;
  if (*failure == ErrorKind::kWorkload || !captured_something) return RunStatus::kFailed;
  return RunStatus::kPartial;
}

}  // namespace nl
