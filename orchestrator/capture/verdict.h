#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/codes.h"
#include "model/error.h"
#include "model/words.h"

namespace nl::orchestrator {

// What went wrong so far, and what that makes of the run. Trouble that leaves something to report does
// not throw: it is noted here, and the bundle is still written.
class Verdict {
 public:
  // The severity comes from the table in model/words.
  void add(Code code, std::vector<std::string> details = {}, std::string where = {});
  void add(const Remark& remark);
  void add(const Error& error);
  void interrupted(int signal);

  bool stopped() const;  // interrupted, or a timeout: no further capture is begun
  int interrupt_signal() const { return interrupt_signal_; }
  std::optional<ErrorKind> failure() const;  // the gravest
  const std::vector<Problem>& problems() const { return problems_; }

 private:
  std::vector<Problem> problems_;
  int interrupt_signal_ = 0;
};

Remark interruption(int signal);

}  // namespace nl::orchestrator
