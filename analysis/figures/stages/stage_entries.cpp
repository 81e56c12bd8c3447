#include "analysis/figures/stages/stage_entries.h"

#include <algorithm>
#include <map>
#include <optional>

#include "analysis/account/gpu_mean.h"
#include "analysis/figures/energy/energy.h"
#include "analysis/staging/windows.h"
#include "analysis/statistics/time_summary.h"

namespace nl::analysis {
namespace {

std::optional<double> median_wall(std::vector<Ns>& values) {
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
    entry.series = window_series(walls_);
    if (!walls_.empty()) entry.first_window_ns = walls_[first_].second;
    entry.rest_median_ns = median_wall(rest);
    if (later_.empty()) return;
    entry.first_in_iteration_ns = median_wall(leading_);
    entry.later_in_iteration_ns = median_wall(later_);
  }

 private:
  std::vector<std::pair<Ns, Ns>> walls_;  // start and length
  std::size_t first_ = 0;
  std::vector<Ns> leading_, later_;
  std::uint32_t last_iteration_ = kNone;
  bool derived_ = false;
};

void fill_gpu(const Trace& trace, const GpuPass& pass, std::uint32_t stage, StageEntry& entry) {
  if (!trace.has_kernel_data && !trace.has_mem_data) return;
  const TargetFigures figures = target_figures(pass.budgets, stage, pass.sweep.by_stage[stage]);
  if (trace.has_kernel_data) entry.kernel_calls = figures.kernels_launched;
  entry.gpu_busy_ns = figures.busy_launched_ns;
  entry.gpu_sum_ns = figures.sum_launched_ns;
  entry.budget = figures.budget;
  entry.foreign_gpu_ns = figures.foreign_gpu_ns;
  entry.activity = pass.activity[stage];
  entry.activity->longest_gap_ns = figures.longest_gap_ns;
  entry.activity->longest_gap_at_ns = figures.longest_gap_at_ns;
  entry.launch_waits = figures.launch_waits.told(trace);
  entry.devices = figures.devices;
  entry.communication = figures.communication;
  entry.gpu_spread = gpu_spread(entry.devices, entry.communication);
}

// The whole span as each GPU sees it: its phases added up.
void add_phase_devices(const std::vector<StageDevice>& phase, std::vector<StageDevice>& all) {
  for (const StageDevice& device : phase) {
    const auto found = std::find_if(all.begin(), all.end(),
                                    [&](const StageDevice& each) { return each.device == device.device && each.pid == device.pid; });
    if (found == all.end()) {
      all.push_back(device);
      continue;
    }
    found->busy_ns += device.busy_ns;
    found->overlapped_communication_ns += device.overlapped_communication_ns;
    add_budget(found->budget, device.budget);
  }
}

// The share of the busy time of all GPUs that lies outside every stage's range.
std::optional<double> outside_ranges(const GpuPass& pass) {
  Ns busy = 0, inside = 0;
  for (const LaneTotal& lane : pass.budgets.totals) busy += lane.busy_ns;
  for (const auto& targets : pass.budgets.sums) inside += targets.back().budget.busy_ns();
  return share(busy - inside, busy);
}

std::vector<UtcWindow> throttled_spans(const std::vector<PowerSample>& samples) {
  std::map<std::int32_t, const PowerSample*> last;
  std::vector<UtcWindow> spans;
  for (const PowerSample& sample : samples) {
    const PowerSample*& before = last[sample.device];
    if (before != nullptr && before->throttle_reasons.value_or(0) & kSlowingReasons) spans.emplace_back(before->utc_ns, sample.utc_ns);
    before = &sample;
  }
  for (const auto& [device, sample] : last)
    if (sample->throttle_reasons.value_or(0) & kSlowingReasons) spans.emplace_back(sample->utc_ns, sample->utc_ns + 1);
  return united(std::move(spans));
}

}  // namespace

std::vector<StageEntry> stage_entries(const Trace& trace, const StageTable& table, const std::vector<Window>& windows,
                                      const GpuPass& pass) {
  std::vector<StageEntry> entries = table.entries(trace);
  std::vector<WallFigures> figures(entries.size());
  for (const Window& window : windows) figures[window.stage].add(window, entries[window.stage]);
  auto slow = told_slow_windows(trace, windows, pass.slow, entries.size());
  for (std::uint32_t i = 0; i < entries.size(); ++i) {
    figures[i].fill(entries[i]);
    fill_gpu(trace, pass, i, entries[i]);
    if (!entries[i].budget || !slow[i]) continue;
    slow[i]->budget = target_figures(pass.budgets, pass.first_slow + i, {}).budget;
    entries[i].slow_windows = std::move(slow[i]);
  }
  return entries;
}

Phases phase_figures(const Trace& trace, const StageTable& table, const std::vector<Window>& windows, const PhasePartition& partition,
                     const GpuPass& pass) {
  Phases result;
  const bool gpu = trace.has_kernel_data || trace.has_mem_data;
  const auto stages = static_cast<std::uint32_t>(table.stages().size());
  for (std::uint32_t i = 0; i < partition.targets(); ++i) {
    const TargetFigures figures = target_figures(pass.budgets, stages + i, {});
    const Budget& budget = figures.budget;
    if (budget.wall_ns == 0) continue;
    Phase& phase = result.phases.emplace_back();
    phase.name = i == partition.mixed() ? key_of(StageKind::kMixed) : i == partition.idle() ? key_of(StageKind::kIdle) : table.stages()[i];
    phase.wall_ns = budget.wall_ns;
    if (gpu) phase.budget = budget;
    if (gpu) add_phase_devices(figures.devices, result.devices);
    result.span_ns += budget.wall_ns;
  }
  if (!gpu) return result;
  sort_by_gpu(result.devices);
  Ns wall = 0, silent = 0;
  for (const Window& window : windows) wall += window.warmup ? 0 : window.wall_ns();
  for (std::uint32_t i = 0; i < stages; ++i) silent += pass.budgets.silent_wall_ns[i];
  result.ranges_without_gpu_share = share(silent, wall);
  result.gpu_without_range_share = outside_ranges(pass);
  return result;
}

WindowSeries window_series(std::vector<std::pair<Ns, Ns>> windows) {
  std::stable_sort(windows.begin(), windows.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  WindowSeries series;
  series.windows_each = std::max<std::size_t>(1, (windows.size() + kMaxListedWindows - 1) / kMaxListedWindows);
  std::vector<Ns> together;
  for (const auto& [start_ns, wall_ns] : windows) {
    together.push_back(wall_ns);
    if (together.size() < series.windows_each) continue;
    series.wall_ns.push_back(static_cast<Ns>(summarise_times(together).median_ns));
    together.clear();
  }
  return series;
}

void leave_out_throttled(const SampledPass& traced, std::vector<StageEntry>& stages) {
  const std::vector<UtcWindow> throttled = throttled_spans(traced.samples);
  if (throttled.empty()) return;
  for (const StageWindows& windows : traced.stages) {
    const auto stage = std::find_if(stages.begin(), stages.end(), [&](const StageEntry& each) { return each.name == windows.stage; });
    if (stage == stages.end()) continue;
    std::vector<std::pair<Ns, Ns>> kept;
    for (const UtcWindow& window : windows.utc_ns)
      if (!overlaps(throttled, window)) kept.emplace_back(window.first, window.second - window.first);
    stage->series = window_series(kept);
    stage->series.throttled = windows.utc_ns.size() - kept.size();
  }
}

}  // namespace nl::analysis
