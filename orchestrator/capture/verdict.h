#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/error.h"
#include "model/run.h"

namespace nl::orchestrator {

// What went wrong so far, and what that makes of the run. Trouble that leaves something to report does
// not throw: it is noted here, and the bundle is still written.
class Verdict {
 public:
  void add(ErrorKind kind, std::string what, std::string where = {}, std::string fix = {});
  void add(const Error& error);
  void interrupted(int signal);

  bool stopped() const;  // interrupted, or a timeout: no further capture is begun
  int interrupt_signal() const { return interrupt_signal_; }
  std::optional<ErrorKind> failure() const { return failure_; }  // the gravest
  RunStatus status(bool captured_something) const;
  const std::vector<Problem>& problems() const { return problems_; }

 private:
  std::vector<Problem> problems_;
  std::optional<ErrorKind> failure_;
  int interrupt_signal_ = 0;
};

}  // namespace nl::orchestrator
