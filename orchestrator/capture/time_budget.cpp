#include "orchestrator/capture/time_budget.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

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

// How many times as long as the trace it takes. ncu replays each kernel that it measures: 69 s where the trace took 38 (H200, generate()).
double length_of(PassKind kind) { return rank_of(kind) == 2 ? 2 : 1; }

}  // namespace

std::size_t workload_starts(std::span<const Pass> passes) {
  return static_cast<std::size_t>(std::count_if(passes.begin(), passes.end(), [](const Pass& pass) { return pass.starts_workload; }));
}

TimeBudget::TimeBudget(const Plan& plan) : budget_s_(plan.config.run.budget_s) {
  for (const Pass& pass : plan.passes)
    if (pass.starts_workload) ++to_come_[pass.kind];
  planned_length_ = length_to_come(std::numeric_limits<int>::max());
}

double TimeBudget::length_to_come(int worth_more_than) const {
  double length = 0;
  for (const auto& [kind, passes] : to_come_)
    if (rank_of(kind) < worth_more_than) length += length_of(kind) * static_cast<double>(passes);
  return length;
}

std::optional<Remark> TimeBudget::refusal(const Pass& pass) const {
  const int rank = rank_of(pass.kind);
  if (budget_s_ <= 0 || rank == 0 || !pass.starts_workload) return std::nullopt;
  const double alone_s = longest_s_ * length_of(pass.kind);
  if (spent_s_ + alone_s + longest_s_ * length_to_come(rank) <= budget_s_) return std::nullopt;
  return Remark{Code::kNoTimeLeft,
                {fmt::format("{:g}", budget_s_), fmt::format("{:.0f}", spent_s_), fmt::format("{:.0f}", std::ceil(alone_s))}};
}

void TimeBudget::take(const Pass& pass, double seconds) {
  spent_s_ += seconds;
  if (!pass.starts_workload) return;
  forget(pass);
  longest_s_ = std::max(longest_s_, seconds / length_of(pass.kind));
  if (!expected_s_) expected_s_ = longest_s_ * planned_length_;
}

void TimeBudget::forget(const Pass& pass) {
  if (!pass.starts_workload) return;
  if (std::size_t& count = to_come_[pass.kind]; count > 0) --count;
}

// Its export goes with it, and is not worth a word.
void TimeBudget::leave_out(const Pass& pass) {
  if (pass.starts_workload) ++left_out_[pass.kind];
}

double TimeBudget::expected_s(const Pass& pass) const { return pass.starts_workload ? longest_s_ * length_of(pass.kind) : 0; }

std::optional<Remark> TimeBudget::left_out() const {
  std::string names;
  for (const auto& [kind, passes] : left_out_)
    names += fmt::format("{}{}{}", names.empty() ? "" : ", ", passes > 1 ? fmt::format("{} × ", passes) : "", key_of(kind));
  if (names.empty()) return std::nullopt;
  return Remark{Code::kLeftOutForTime, {fmt::format("{:g}", budget_s_), names}};
}

}  // namespace nl::orchestrator
