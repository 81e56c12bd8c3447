#include "analysis/stages/figures.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "analysis/stats/time_summary.h"

namespace nl::analysis {
namespace {

std::optional<double> median_of(std::vector<Ns>& values) {
  if (values.empty()) return std::nullopt;
  return summarise_times(values).median_ns;
}

std::optional<double> share(Ns part, Ns whole) {
  if (whole <= 0) return std::nullopt;
  return static_cast<double>(part) / static_cast<double>(whole);
}

// The windows of one stage.
class WallFigures {
 public:
  void add(const Window& window, StageEntry& entry) {
    if (window.warmup) {
      ++entry.warmup_windows;
      entry.warmup_wall_ns += window.wall_ns();
      return;
    }
    derived_ = (walls_.empty() || derived_) && window.derived;
    if (walls_.empty() || window.wall_ns() > entry.longest_window_end_ns - entry.longest_window_start_ns) {
      entry.longest_window_start_ns = window.start_ns;
      entry.longest_window_end_ns = window.end_ns;
    }
    if (walls_.empty() || window.start_ns < walls_[first_].first) first_ = walls_.size();
    walls_.emplace_back(window.start_ns, window.wall_ns());
    // Windows come by thread and start, so that those of an iteration follow each other.
    const bool leads = window.iteration == kNone || window.iteration != last_iteration_;
    (leads ? leading_ : later_).push_back(window.wall_ns());
    last_iteration_ = window.iteration;
  }

  void fill(StageEntry& entry) {
    entry.derived = derived_;
    std::vector<Ns> all, rest;
    for (std::size_t i = 0; i < walls_.size(); ++i) {
      all.push_back(walls_[i].second);
      if (i != first_) rest.push_back(walls_[i].second);
    }
    entry.wall = summarise_times(all);
    if (!walls_.empty()) entry.first_window_ns = walls_[first_].second;
    entry.rest_median_ns = median_of(rest);
    if (later_.empty()) return;
    entry.first_in_iteration_ns = median_of(leading_);
    entry.later_in_iteration_ns = median_of(later_);
  }

 private:
  std::vector<std::pair<Ns, Ns>> walls_;  // start and length
  std::size_t first_ = 0;
  std::vector<Ns> leading_, later_;
  std::uint32_t last_iteration_ = kNone;
  bool derived_ = false;
};

void fill_gpu(const Trace& trace, const GpuPass& pass, std::size_t stage, StageEntry& entry) {
  if (trace.has_kernel_data) entry.kernel_calls = pass.sweep.by_stage[stage].kernels;
  if (!trace.has_kernel_data && !trace.has_mem_data) return;
  const BudgetSum& sum = pass.stages[stage];
  entry.gpu_busy_ns = pass.sweep.by_stage[stage].busy_ns();
  entry.gpu_sum_ns = pass.sweep.by_stage[stage].sum_ns;
  entry.budget = sum.budget;
  entry.foreign_gpu_ns = sum.budget.gpu_compute_ns + sum.budget.exposed_copy_ns - sum.own_gpu_ns;
  entry.activity = pass.activity[stage];
  entry.activity->longest_gap_ns = sum.longest_gap_ns;
  entry.activity->longest_gap_at_ns = sum.longest_gap_at_ns;
  for (std::size_t i = 0; i < sum.device_busy_ns.size(); ++i)
    if (sum.device_busy_ns[i] > 0) entry.devices.push_back({pass.sweep.devices[i], sum.device_busy_ns[i]});
}

}  // namespace

std::vector<StageEntry> stage_entries(const Trace& trace, const StageTable& table, const std::vector<Window>& windows,
                                      const GpuPass& pass) {
  std::vector<StageEntry> entries = table.entries(trace);
  std::vector<WallFigures> figures(entries.size());
  for (const Window& window : windows) figures[window.stage].add(window, entries[window.stage]);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    figures[i].fill(entries[i]);
    fill_gpu(trace, pass, i, entries[i]);
  }
  return entries;
}

Phases phase_figures(const Trace& trace, const StageTable& table, const std::vector<Window>& windows,
                     const PhasePartition& partition, const GpuPass& pass) {
  Phases result;
  const bool gpu = trace.has_kernel_data || trace.has_mem_data;
  for (std::uint32_t i = 0; i < partition.targets(); ++i) {
    const Budget& budget = pass.phases[i].budget;
    if (budget.wall_ns == 0) continue;
    Phase& phase = result.phases.emplace_back();
    phase.name = i == partition.mixed()  ? key_of(StageKind::kMixed)
                 : i == partition.idle() ? key_of(StageKind::kIdle)
                                         : table.stages()[i];
    phase.wall_ns = budget.wall_ns;
    if (gpu) phase.budget = budget;
    result.span_ns += budget.wall_ns;
  }
  if (!gpu) return result;
  Ns wall = 0, silent = 0;
  for (const Window& window : windows) wall += window.warmup ? 0 : window.wall_ns();
  for (const BudgetSum& stage : pass.stages) silent += stage.silent_wall_ns;
  result.ranges_without_gpu_share = share(silent, wall);
  result.gpu_without_range_share = share(pass.busy_ns - pass.busy_in_ranges_ns, pass.busy_ns);
  return result;
}

}  // namespace nl::analysis
