#include "analysis/staging/surroundings.h"

#include <algorithm>
#include <limits>

namespace nl::analysis {

SurroundingsCache::SurroundingsCache(const Trace& trace, const StageTable& table, const IterationPlan& plan,
                                     const std::vector<Window>& windows, const std::vector<std::uint32_t>& chosen)
    : trace_(trace), table_(table), plan_(plan), index_(trace), threads_(trace.threads.size()), chosen_(table.stages().size()) {
  for (const std::uint32_t stage : chosen) chosen_[stage] = true;
  for (const Range& range : trace.ranges) {
    if (range.thread >= threads_.size()) continue;
    threads_[range.thread].boundaries.push_back(range.start_ns);
    threads_[range.thread].boundaries.push_back(range.end_ns);
  }
  for (auto& thread : threads_) std::sort(thread.boundaries.begin(), thread.boundaries.end());
  for (const Window& window : windows)
    if (window.derived && !window.warmup && window.thread < threads_.size()) threads_[window.thread].derived.push_back(&window);
}

const Surroundings& SurroundingsCache::look_up(const ApiCall& call, ThreadState& thread) {
  Surroundings& out = thread.last;
  out.groups.clear();
  out.stages.clear();
  out.top_stage = kNone;
  out.chosen = false;
  index_.enclosing(call, ranges_);
  for (const std::uint32_t range : ranges_) {
    const std::uint32_t group = table_.group_of(range);
    add_once(out.groups, group);
    const std::uint32_t stage = table_.groups()[group].stage;
    if (stage == kNone) continue;
    const std::uint32_t top = table_.top_level(stage);
    if (out.top_stage == kNone) out.top_stage = top;
    out.chosen |= chosen_[top] || chosen_[stage];
    if (plan_.in_warmup(trace_.ranges[range].thread, trace_.ranges[range].start_ns)) continue;
    add_once(out.stages, stage);  // decode, too, only where one of its windows is open: its range, or a derived one (look_up)
  }
  // Between two steps of a derived decode there is no range, but its window is open all the same.
  const auto later = std::upper_bound(thread.derived.begin(), thread.derived.end(), call.start_ns,
                                      [](Ns time, const Window* window) { return time < window->start_ns; });
  if (later != thread.derived.begin() && (*(later - 1))->end_ns >= call.end_ns()) add_once(out.stages, (*(later - 1))->stage);
  const auto& boundaries = thread.boundaries;
  const auto after = std::upper_bound(boundaries.begin(), boundaries.end(), call.start_ns);
  thread.from_ns = after == boundaries.begin() ? std::numeric_limits<Ns>::min() : *(after - 1);
  thread.to_ns = after == boundaries.end() ? std::numeric_limits<Ns>::max() : *after;
  // A call on a boundary or across one speaks only for itself.
  if (call.start_ns == thread.from_ns || call.end_ns() >= thread.to_ns) thread.from_ns = thread.to_ns = 0;
  return out;
}

}  // namespace nl::analysis
