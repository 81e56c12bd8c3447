#include "orchestrator/capture/verdict.h"

#include <csignal>

#include "model/words.h"

namespace nl::orchestrator {
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

bool ended_early(const std::optional<ErrorKind>& failure) { return failure == ErrorKind::kInterrupted || failure == ErrorKind::kTimeout; }

}  // namespace

void Verdict::add(Code code, std::vector<std::string> details, std::string where) {
  add(Remark{code, std::move(details), std::move(where)});
}

void Verdict::add(const Remark& remark) { problems_.push_back(problem_of(remark)); }

void Verdict::add(const Error& error) { problems_.push_back(problem_of(error)); }

void Verdict::interrupted(int signal) {
  if (interrupt_signal_ != 0) return;
  interrupt_signal_ = signal;
  add(interruption(signal));
}

bool Verdict::stopped() const { return ended_early(failure()) || interrupt_signal_ != 0; }

std::optional<ErrorKind> Verdict::failure() const { return gravest(problems_); }

Remark interruption(int signal) {
  if (signal == SIGINT) return {Code::kInterrupted, {}, "SIGINT"};
  return {Code::kEndedFromOutside, {signal == SIGTERM ? "SIGTERM" : "SIGHUP"}};
}

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

}  // namespace nl::orchestrator
