#include "analysis/staging/windows.h"

#include <algorithm>
#include <limits>
#include <map>
#include <ranges>
#include <tuple>

#include "analysis/statistics/time_summary.h"
#include "analysis/trace/api_kind.h"
#include "model/cuda_calls.h"

namespace nl::analysis {
namespace {

// Which ranges of one stage count. They come in the order of thread, start, and longest first.
class WindowFilter {
 public:
  bool counts(const Range& range, std::uint32_t group) {
    if (range.thread != thread_) {
      covered_until_.clear();
      thread_ = range.thread;
    }
    const bool overlapping_requests = range.style == RangeStyle::kStartEnd;
    const bool inside = std::any_of(covered_until_.begin(), covered_until_.end(), [&](const auto& covered) {
      return covered.second >= range.end_ns && !(overlapping_requests && covered.first == group);
    });
    Ns& until = covered_until_.try_emplace(group, std::numeric_limits<Ns>::min()).first->second;
    until = std::max(until, range.end_ns);
    return !inside;
  }

 private:
  std::uint32_t thread_ = kNone;
  std::map<std::uint32_t, Ns> covered_until_;  // group → end of its latest range on this thread
};

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

bool earlier_on_thread(const Window& a, const Window& b) {
  return std::tuple(a.thread, a.start_ns, -a.end_ns) < std::tuple(b.thread, b.start_ns, -b.end_ns);
}

std::vector<Window> find_windows(const Trace& trace, const StageTable& table) {
  std::vector<std::uint32_t> closed;
  for (std::uint32_t i = 0; i < trace.ranges.size(); ++i)
    if (table.stage_of_range(i) != kNone && !never_closed(trace, trace.ranges[i])) closed.push_back(i);
  std::sort(closed.begin(), closed.end(), [&](std::uint32_t a, std::uint32_t b) {
    const Range &x = trace.ranges[a], &y = trace.ranges[b];
    return std::tuple(x.thread, x.start_ns, -x.end_ns, a) < std::tuple(y.thread, y.start_ns, -y.end_ns, b);
  });
  std::vector<WindowFilter> filters(table.stages().size());
  std::vector<Window> windows;
  for (const std::uint32_t i : closed) {
    const Range& range = trace.ranges[i];
    const std::uint32_t stage = table.stage_of_range(i);
    if (!filters[stage].counts(range, table.group_of(i))) continue;
    Window window;
    window.start_ns = range.start_ns;
    window.end_ns = std::max(range.start_ns, range.end_ns);
    window.stage = stage;
    window.thread = range.thread;
    window.process = process_slot_of_thread(trace, range.thread);
    if (trace.strings[range.domain] == kStageDomain) window.tokens = range.payload;
    windows.push_back(window);
  }
  return windows;
}

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
