#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>

#include "orchestrator/capture/plan.h"

// The limits of a run: how long its passes take (run.budget_s), and how large its trace grows (capture.max_size).
namespace nl::orchestrator {

// How often the passes of a plan start the workload.
std::size_t workload_starts(std::span<const Pass> passes);

// How long the rest of a plan takes, judged by the passes before, and whether there is time for it (run.budget_s). The trace
// comes first and is always made; then operators, then counters, then the repetitions that measure the overhead of profiling. A pass is
// not begun where it would not end in time, or would leave too little for later passes that are worth more.
class TimeBudget {
 public:
  TimeBudget() = default;  // nothing is planned, and there is no limit
  explicit TimeBudget(const Plan& plan);

  std::optional<Remark> refusal(const Pass& pass) const;  // why it is not begun
  void take(const Pass& pass, double seconds);            // it was run
  void forget(const Pass& pass);                          // it will not be run
  void leave_out(const Pass& pass);                       // for lack of time

  double expected_s(const Pass& pass) const;                        // of this one, by those before; 0: not known
  std::optional<double> expected_s() const { return expected_s_; }  // of all starts, by the first
  std::optional<Remark> left_out() const;                           // what there was no time for, in one

 private:
  double length_to_come(int worth_more_than) const;  // in traces

  double budget_s_ = 0, spent_s_ = 0;
  double longest_s_ = 0;  // a trace, by what was run until now
  double planned_length_ = 0;
  std::optional<double> expected_s_;
  std::map<PassKind, std::size_t> to_come_;  // passes that start the workload
  std::map<PassKind, std::size_t> left_out_;
};

// The size of the files below a folder; with `since` only of those written after it.
std::uint64_t bytes_below(const std::filesystem::path& folder, std::optional<std::filesystem::file_time_type> since = {});

// Ends the pass when what it writes is larger than capture.max_size: in the bundle, and by nsys in its folder of temporary files,
// where it keeps the events until the workload has ended.
void limit_trace_size(Pass& pass, const Plan& plan);

// The plan with less in its trace, pass for pass, and in words what it leaves out; nothing where nothing can be left out.
struct LighterPlan {
  Plan plan;
  std::string without;
};
std::optional<LighterPlan> lighter_plan(const Plan& plan);

}  // namespace nl::orchestrator
