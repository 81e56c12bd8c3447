#include "analysis/staging/windows.h"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>

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

}  // namespace nl::analysis
