#include <algorithm>
#include <utility>

#include "query/sources.h"

namespace nl::query {

WindowList::WindowList(const analysis::StagedTrace& staged) : windows(staged.windows), stages(staged.table.stages()) {
  std::stable_sort(windows.begin(), windows.end(), [](const analysis::Window& a, const analysis::Window& b) {
    return std::pair(a.start_ns, -a.end_ns) < std::pair(b.start_ns, -b.end_ns);
  });
  std::vector<std::uint32_t> next(stages.size(), 0);
  threads_.resize(staged.trace.threads.size());
  std::vector<std::vector<std::uint32_t>> open(threads_.size());
  for (std::uint32_t i = 0; i < windows.size(); ++i) {
    const analysis::Window& window = windows[i];
    positions.push_back(next[window.stage]++);
    if (window.thread >= threads_.size()) continue;
    std::vector<std::uint32_t>& around = open[window.thread];
    std::erase_if(around, [&](std::uint32_t each) { return windows[each].end_ns <= window.start_ns; });
    threads_[window.thread].windows.push_back(i);
    threads_[window.thread].parents.push_back(around.empty() ? kNone : around.back());
    around.push_back(i);
  }
}

std::uint32_t WindowList::on_thread(std::uint32_t thread, Ns start_ns, Ns end_ns) const {
  const OfThread& own = threads_[thread];
  const auto after = std::upper_bound(own.windows.begin(), own.windows.end(), start_ns,
                                      [&](Ns time_ns, std::uint32_t each) { return time_ns < windows[each].start_ns; });
  if (after == own.windows.begin()) return kNone;
  std::size_t at = static_cast<std::size_t>(after - own.windows.begin()) - 1;
  while (windows[own.windows[at]].end_ns < end_ns) {  // it ended before, or the call outlasts it
    const std::uint32_t parent = own.parents[at];
    if (parent == kNone) return kNone;
    at = static_cast<std::size_t>(std::lower_bound(own.windows.begin(), own.windows.end(), parent) - own.windows.begin());
  }
  return own.windows[at];
}

std::uint32_t WindowList::around(const Trace& trace, std::uint32_t thread, Ns start_ns, Ns end_ns) const {
  if (thread >= threads_.size()) return kNone;
  if (!threads_[thread].windows.empty()) return on_thread(thread, start_ns, end_ns);
  std::uint32_t found = kNone;
  for (std::uint32_t other = 0; other < threads_.size(); ++other) {
    if (threads_[other].windows.empty() || trace.threads[other].process != trace.threads[thread].process) continue;
    const std::uint32_t window = on_thread(other, start_ns, end_ns);
    if (window != kNone && found != kNone) return kNone;  // of two it is not known for which it works
    if (window != kNone) found = window;
  }
  return found;
}

}  // namespace nl::query
