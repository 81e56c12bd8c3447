#include "orchestrator/capture/time_budget.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "model/words.h"

namespace nl::orchestrator {
namespace {

// The lower, the more it is worth.
int rank_of(PassKind kind) {
  switch (kind) {
    case PassKind::kNsys:
    case PassKind::kCollector: return 0;
    case PassKind::kNcu:
    case PassKind::kStageCounters:
    case PassKind::kKernelCounters: return 2;
    case PassKind::kUnprofiled:
    case PassKind::kNsysRepeat:
    case PassKind::kCollectorRepeat: return 3;
    default: return 1;
  }
}

}  // namespace

std::size_t workload_starts(std::span<const Pass> passes) {
  return static_cast<std::size_t>(std::count_if(passes.begin(), passes.end(), [](const Pass& pass) { return pass.starts_workload; }));
}

TimeBudget::TimeBudget(const Plan& plan) : budget_s_(plan.config.run.budget_s), planned_(workload_starts(plan.passes)) {
  for (const Pass& pass : plan.passes)
    if (pass.starts_workload) ++to_come_[pass.kind];
}

std::size_t TimeBudget::still_to_come(int worth_more_than) const {
  std::size_t count = 0;
  for (const auto& [kind, passes] : to_come_)
    if (rank_of(kind) < worth_more_than) count += passes;
  return count;
}

std::optional<Remark> TimeBudget::refusal(const Pass& pass) const {
  const int rank = rank_of(pass.kind);
  if (budget_s_ <= 0 || rank == 0 || !pass.starts_workload) return std::nullopt;
  const double needed_s = longest_s_ * static_cast<double>(1 + still_to_come(rank));
  if (spent_s_ + needed_s <= budget_s_) return std::nullopt;
  return Remark{Code::kNoTimeLeft, {fmt::format("{:g}", budget_s_), fmt::format("{:.0f}", spent_s_), fmt::format("{:.0f}", std::ceil(longest_s_))}};
}

void TimeBudget::take(const Pass& pass, double seconds) {
  spent_s_ += seconds;
  if (!pass.starts_workload) return;
  ++started_;
  forget(pass);
  longest_s_ = std::max(longest_s_, seconds);
  if (!expected_s_) expected_s_ = seconds * static_cast<double>(planned_);
}

void TimeBudget::forget(const Pass& pass) {
  if (!pass.starts_workload) return;
  if (std::size_t& count = to_come_[pass.kind]; count > 0) --count;
}

// Its export goes with it, and is not worth a word.
void TimeBudget::leave_out(const Pass& pass) {
  if (pass.starts_workload) ++left_out_[pass.kind];
}

std::string TimeBudget::progress() const {
  std::size_t more = 0;
  for (const auto& [kind, passes] : to_come_) more += passes;
  if (!expected_s_ || more == 0) return {};
  return fmt::format("start {} of {}, about {:.0f} s to go", started_ + 1, started_ + more, std::ceil(longest_s_ * static_cast<double>(more)));
}

std::optional<Remark> TimeBudget::left_out() const {
  std::string names;
  for (const auto& [kind, passes] : left_out_)
    names += fmt::format("{}{}{}", names.empty() ? "" : ", ", passes > 1 ? fmt::format("{} × ", passes) : "", key_of(kind));
  if (names.empty()) return std::nullopt;
  return Remark{Code::kLeftOutForTime, {fmt::format("{:g}", budget_s_), names}};
}

}  // namespace nl::orchestrator
