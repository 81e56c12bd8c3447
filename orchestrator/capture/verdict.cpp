#include "orchestrator/capture/verdict.h"

#include <csignal>

#include "model/words.h"

namespace nl::orchestrator {
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

}  // namespace nl::orchestrator
