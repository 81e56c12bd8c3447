#include "analysis/figures/stages/window_series.h"

#include <algorithm>
#include <map>

#include "analysis/figures/energy/energy_curve.h"
#include "analysis/statistics/time_summary.h"

namespace nl::analysis {
namespace {

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

bool overlaps(const std::vector<UtcWindow>& spans, const UtcWindow& window) {
  const auto after =
      std::upper_bound(spans.begin(), spans.end(), window.first, [](Ns time, const UtcWindow& span) { return time < span.second; });
  return after != spans.end() && after->first < window.second;
}

}  // namespace

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
