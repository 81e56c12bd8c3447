#pragma once

#include <optional>
#include <string>
#include <vector>

#include "orchestrator/capture/launch.h"

namespace nl::orchestrator {

// Runs the plan's passes that tell what tracing costs, in turn with the capture: bare, the capture, bare,
// the capture once more … None is begun that perturbation.budget_s would not see the end of, judged by those before it.
// Whatever goes wrong in one of them is noted and fails nothing.
class RepeatedPasses {
 public:
  RepeatedPasses(const Plan& plan, const Config& config, const Bundle& bundle, PassRunner& passes, Verdict& verdict);

  void run_before();
  Repeats run_after(const Capture& capture);

 private:
  void run_bare(const Pass& pass, std::vector<analysis::PassTimes>& times);
  void run_repeat(const Pass& pass, const Pass* read);
  void read_repeat(const Pass& pass, const Pass* read, Ns duration_ns);
  std::optional<ProcessResult> run_within_budget(Pass pass);
  void read_bare(const Pass& pass, Ns duration_ns, std::vector<analysis::PassTimes>& times);
  bool fits(double seconds) const;
  bool has_trace(const Capture& capture) const;
  std::string no_further(const Capture& capture) const;
  void compare_exits(const Capture& capture);
  void leave_out(std::size_t from, const std::string& why);

  const Plan& plan_;
  const Config& config_;
  const Bundle& bundle_;
  PassRunner& passes_;
  Verdict& verdict_;
  Repeats repeats_;
  std::size_t capture_at_ = 0;  // in the plan
  double spent_s_ = 0, bare_s_ = 0, traced_s_ = 0;  // traced: with its export
  bool traced_ = false;  // the capture has GPU work, so that its price can be told
  std::optional<int> bare_exit_;  // of the first bare pass that came to its end
};

}  // namespace nl::orchestrator
