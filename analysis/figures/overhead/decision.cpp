#include "analysis/figures/overhead/decision.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/statistics/confidence.h"
#include "model/words.h"

namespace nl::analysis {
namespace {

constexpr double kError = 0.05;
constexpr std::size_t kMostPasses = 100;  // more would take longer than anyone waits
constexpr int kFewestPasses = 2;          // fewer have no interval

using Rows = std::vector<const StageSlowdown*>;

double total_ns(const StageSlowdown& row) {
  double total = 0;
  for (const double each : row.bare_ns) total += each;
  return total;
}

// ncu replays kernels and is slow by design; nothing is decided about it.
Rows compared_rows(const Perturbation& measured) {
  Rows rows;
  for (const StageSlowdown& row : measured.stages)
    if (row.profiler != PassKind::kNcu && row.slowdown) rows.push_back(&row);
  return rows;
}

Rows watched_rows(const Perturbation& measured, const std::vector<std::string>& stages) {
  const Rows all = compared_rows(measured);
  Rows watched;
  for (const StageSlowdown* row : all)
    if (std::find(stages.begin(), stages.end(), row->stage) != stages.end()) watched.push_back(row);
  if (!watched.empty() || all.empty()) return watched;
  return {*std::max_element(all.begin(), all.end(), [](const auto* a, const auto* b) { return total_ns(*a) < total_ns(*b); })};
}

double variance_of_logs(const std::vector<double>& values) {
  double mean = 0, sum = 0;
  for (const double value : values) mean += std::log(value) / static_cast<double>(values.size());
  for (const double value : values) sum += (std::log(value) - mean) * (std::log(value) - mean);
  return sum / static_cast<double>(values.size() - 1);
}

// How many passes of each kind give an interval that excludes the limit, if slowdown and spread stay as they are.
std::optional<std::size_t> passes_to_decide(const StageSlowdown& row, const OverheadRule& rule) {
  if (row.bare_ns.size() < kFewestPasses || row.profiled_ns.size() < kFewestPasses) return std::nullopt;
  const double distance = std::abs(std::log1p(*row.slowdown) - std::log1p(rule.limit));
  const double variance = variance_of_logs(row.bare_ns) + variance_of_logs(row.profiled_ns);
  for (std::size_t passes = kFewestPasses; passes <= kMostPasses; ++passes) {
    const auto count = static_cast<double>(passes);
    if (student_t(rule.confidence(), 2 * (count - 1)) * std::sqrt(variance / count) < distance) return passes;
  }
  return std::nullopt;
}

std::size_t passes_of(const StageSlowdown& row) { return std::min(row.bare_ns.size(), row.profiled_ns.size()); }

std::string names_of(const Rows& rows) {
  std::string text;
  for (std::size_t i = 0; i < rows.size(); ++i) text += (i == 0 ? "" : i + 1 == rows.size() ? " and " : ", ") + rows[i]->stage;
  return text;
}

std::string passes_text(std::uint64_t passes) {
  return passes == 1 ? "1 pass of each kind" : fmt::format("{} passes of each kind", passes);
}

std::string decided_text(const Rows& over, const Rows& under, const OverheadDecision& decision, double limit) {
  std::string text = fmt::format("Decided after {}: tracing slows ", passes_text(decision.passes));
  if (!over.empty()) text += fmt::format("{} by more than {}", names_of(over), limit_text(limit));
  if (!under.empty()) text += fmt::format("{}{} by less than {}", over.empty() ? "" : ", and ", names_of(under), limit_text(limit));
  return text;
}

std::string reason_text(RepeatsEnd end) {
  switch (end) {
    case RepeatsEnd::kBudget: return "no time was left (perturbation.budget_s, run.budget_s)";
    case RepeatsEnd::kMost:
    case RepeatsEnd::kFixed: return "no more were allowed (perturbation.most_repeats)";
    case RepeatsEnd::kStopped: return "a pass failed, or the run was ended early";
    case RepeatsEnd::kDecided: break;
  }
  return {};
}

std::string undecided_text(const Rows& open, const OverheadDecision& decision, double limit) {
  const std::string more =
      decision.more_passes ? fmt::format("about {} more would probably decide it", *decision.more_passes)
      : decision.passes < kFewestPasses
          ? "at least two of each kind are needed"
          : fmt::format("more than {} would be needed, because the passes differ by more than the slowdown is away from the limit",
                        kMostPasses);
  return fmt::format("Not decided after {}: whether tracing slows {} by more than {}; {}, and {}", passes_text(decision.passes),
                     names_of(open), limit_text(limit), reason_text(decision.end), more);
}

}  // namespace

double OverheadRule::confidence() const { return 1 - kError / static_cast<double>(std::max<std::size_t>(looks, 1)); }

std::string limit_text(double limit) { return fmt::format("{:g} %", std::round(limit * 1e4) / 1e2); }

std::vector<int> overhead_looks(int repeats, int most) {
  std::vector<int> looks;
  for (int look = std::max(repeats, kFewestPasses); look < most; look = (look * 3 + 1) / 2) looks.push_back(look);
  looks.push_back(std::max(repeats, most));
  return looks;
}

std::optional<OverheadDecision> decision_of(const Perturbation& measured, RepeatsEnd end, const OverheadRule& rule) {
  const Rows watched = watched_rows(measured, rule.stages);
  if (watched.empty()) return std::nullopt;
  OverheadDecision decision;
  decision.passes = UINT64_MAX;
  Rows over, under, open;
  std::optional<std::size_t> needed = 0;
  for (const StageSlowdown* row : watched) {
    decision.stages.push_back(row->stage);
    decision.passes = std::min<std::uint64_t>(decision.passes, passes_of(*row));
    if (row->verdict == SlowdownVerdict::kOverLimit) over.push_back(row);
    else if (row->verdict == SlowdownVerdict::kUnderLimit) under.push_back(row);
    else open.push_back(row);
  }
  for (const StageSlowdown* row : open) {
    decision.undecided.push_back(row->stage);
    const auto each = passes_to_decide(*row, rule);
    needed = each && needed ? std::optional(std::max(*each, *needed)) : std::nullopt;
  }
  decision.end = open.empty() ? RepeatsEnd::kDecided : end == RepeatsEnd::kDecided ? RepeatsEnd::kFixed : end;
  // The interval itself was wider than the estimate: one more pass is the least.
  if (!open.empty() && needed) decision.more_passes = *needed > decision.passes ? *needed - decision.passes : 1;
  decision.summary = open.empty() ? decided_text(over, under, decision, rule.limit) : undecided_text(open, decision, rule.limit);
  return decision;
}

}  // namespace nl::analysis
