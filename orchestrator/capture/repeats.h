#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "orchestrator/capture/capture.h"
#include "orchestrator/capture/pass_runner.h"

namespace nl::orchestrator {

// The plan's passes that measure the overhead of tracing, in turn with the capture: unprofiled, the capture, unprofiled, the
// capture once more … None is begun that would not end within perturbation.budget_s, judged by those before it.
// After those of perturbation.repeats more follow, as long as the overhead is neither above nor below perturbation.limit for sure.
// Trouble in one of them is noted and does not fail the run.
class RepeatedPasses : public Step {
 public:
  explicit RepeatedPasses(const Plan& plan) : plan_(plan), config_(plan.config) {}

  void run_before(std::span<const Pass> passes, PassRunner& runner);  // the capture
  struct AfterCapture {
    std::span<const Pass> passes, further;     // those of perturbation.repeats; those that may follow
    std::function<const Trace&()> trace = {};  // reads the capture where it was not read yet; asked where further passes may follow
  };
  Repeats run_after(const AfterCapture& what, PassRunner& runner, const Capture& capture);

  std::optional<Pass> next() override;
  void take(const Pass& pass, const ProcessResult* result, PassRecord& record) override;
  void finish() override;

 private:
  std::optional<Pass> next_before();
  std::optional<Pass> next_after();
  bool may_repeat(std::size_t at);
  bool may_go_on(const Pass& pass);
  bool is_decided();
  void go_on_after(const Capture& capture);
  Pass within_budget(Pass pass) const;
  Pass unprofiled_after(Pass pass) const;
  void take_unprofiled(const Pass& pass, const ProcessResult& result, std::vector<PowerSample> power);
  void read_unprofiled(const Pass& pass, Ns duration_ns, std::vector<PowerSample> power);
  std::vector<ThreadLaunches> read_launches(const Pass& pass, const std::vector<std::filesystem::path>& files);
  void read_repeat(const std::string& label, const Trace& trace);
  void drop(const Pass& pass) const;
  bool fits(double seconds) const;
  bool has_trace(const Capture& capture) const;
  std::optional<Remark> no_further(const Pass& pass) const;
  std::string why_not_compare() const;
  void compare_exits(const Capture& capture);
  void leave_out(std::size_t from, const Remark& why);
  Verdict& verdict() const { return runner_->verdict(); }

  const Plan& plan_;
  const Config& config_;
  PassRunner* runner_ = nullptr;
  std::span<const Pass> passes_;
  std::vector<Pass> all_;    // after the capture, those beyond perturbation.repeats last
  std::size_t planned_ = 0;  // of all_, those of perturbation.repeats
  std::size_t counted_ = 0;  // of repeats_.after, when the latest pair was begun
  int pairs_ = 0;            // that were begun
  std::function<const Trace&()> trace_;
  Repeats repeats_;
  std::size_t at_ = 0;  // the next of passes_
  bool after_ = false, captured_ = false;
  bool began_unprofiled_ = false;                         // before the capture
  double spent_s_ = 0, unprofiled_s_ = 0, traced_s_ = 0;  // traced: with its export
  bool marks_nothing_ = false;                            // an unprofiled pass ran, and no range of it tells a stage
  bool traced_ = false;                                   // the capture has GPU work, so that its cost can be told
  std::optional<Ns> repeated_ns_;                         // the latest repetition, where it ended well and is still to be read
  std::optional<int> unprofiled_exit_;                    // of the first unprofiled pass that came to its end
};

}  // namespace nl::orchestrator
