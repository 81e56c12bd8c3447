#include "analysis/staging/slow_windows.h"

#include <algorithm>
#include <ranges>

#include "analysis/statistics/time_summary.h"
#include "analysis/trace/api_kind.h"
#include "model/cuda_calls.h"

namespace nl::analysis {
namespace {

// Calls nest: what loads may call what loads, and counts once.
void add_loads(const Trace& trace, const CallsByThread& calls, const Window& window, SlowWindows& out) {
  if (window.thread >= calls.threads()) return;
  const auto all = std::views::iota(calls.first(window.thread), calls.last(window.thread));
  const auto first = std::ranges::lower_bound(all, window.start_ns, {}, [&](std::size_t i) { return calls[i].start_ns; });
  Ns until = window.start_ns;
  for (std::size_t i = calls.first(window.thread) + static_cast<std::size_t>(first - all.begin());
       i < calls.last(window.thread) && calls[i].start_ns < window.end_ns; ++i) {
    const Ns start = std::max(calls[i].start_ns, until), end = std::min(calls[i].end_ns(), window.end_ns);
    if (end <= start || !cuda_call(trace.strings[calls[i].name]).loads_code) continue;
    ++*out.module_loads;
    *out.module_load_ns += end - start;
    until = end;
  }
}

}  // namespace

std::vector<bool> slow_windows(const std::vector<Window>& windows, std::size_t stages) {
  std::vector<std::vector<Ns>> walls(stages);
  for (const Window& window : windows)
    if (!window.warmup) walls[window.stage].push_back(window.wall_ns());
  std::vector<double> limit(stages, 0);
  for (std::size_t i = 0; i < stages; ++i)
    if (walls[i].size() >= kEnoughWindows) limit[i] = kSlowWindow * summarise_times(walls[i]).median_ns;
  std::vector<bool> slow;
  for (const Window& window : windows)
    slow.push_back(!window.warmup && limit[window.stage] > 0 && static_cast<double>(window.wall_ns()) > limit[window.stage]);
  return slow;
}

std::vector<std::optional<SlowWindows>> told_slow_windows(const Trace& trace, const std::vector<Window>& windows,
                                                          const std::vector<bool>& slow, std::size_t stages) {
  std::vector<std::optional<SlowWindows>> out(stages);
  const bool calls_known = !trace.other_calls.empty();
  std::optional<CallsByThread> calls;
  for (std::size_t i = 0; i < windows.size(); ++i) {
    if (!slow[i]) continue;
    auto& told = out[windows[i].stage];
    if (!told) {
      told.emplace();
      if (calls_known) told->module_loads = told->module_load_ns = 0;
    }
    ++told->count;
    if (!calls_known) continue;
    if (!calls) calls.emplace(trace, trace.other_calls);
    add_loads(trace, *calls, windows[i], *told);
  }
  return out;
}

}  // namespace nl::analysis
