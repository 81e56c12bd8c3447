#include "analysis/staging/surroundings.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

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
  for (const Window& window : windows)
    if (window.derived && !window.warmup && window.thread < threads_.size()) threads_[window.thread].derived.push_back(&window);
  find_owners();
  for (auto& thread : threads_) std::sort(thread.boundaries.begin(), thread.boundaries.end());
}

// Boundaries of the owners' ranges are those of their helpers, too.
void SurroundingsCache::find_owners() {
  const std::vector<bool> staged = staged_threads(trace_, table_);
  std::map<std::uint32_t, std::vector<std::uint32_t>> owners;  // by process
  for (std::uint32_t thread = 0; thread < threads_.size(); ++thread)
    if (staged[thread]) owners[process_slot_of_thread(trace_, thread)].push_back(thread);
  std::vector<bool> launches(threads_.size(), false);
  for (const ApiCall& call : trace_.api_calls)
    if (call.thread < launches.size()) launches[call.thread] = true;
  for (std::uint32_t thread = 0; thread < threads_.size(); ++thread) {
    const auto found = owners.find(process_slot_of_thread(trace_, thread));
    if (staged[thread] || !launches[thread] || found == owners.end()) continue;
    threads_[thread].owners = found->second;
    for (const std::uint32_t owner : found->second)
      threads_[thread].boundaries.insert(threads_[thread].boundaries.end(), threads_[owner].boundaries.begin(),
                                         threads_[owner].boundaries.end());
  }
}

bool SurroundingsCache::add_stages(const ApiCall& call, std::uint32_t of_thread, Surroundings& out) {
  index_.enclosing(of_thread, call.start_ns, call.end_ns(), ranges_);
  bool any = false;
  for (const std::uint32_t range : ranges_) {
    const std::uint32_t stage = table_.stage_of_range(range);
    if (stage == kNone) continue;
    any = true;
    const std::uint32_t top = table_.top_level(stage);
    if (out.top_stage == kNone) out.top_stage = top;
    out.chosen |= chosen_[top] || chosen_[stage];
    if (plan_.in_warmup(trace_.ranges[range].thread, trace_.ranges[range].start_ns)) continue;
    add_once(out.stages, stage);  // decode, too, only where one of its windows is open: its range, or a derived one
  }
  // Between two steps of a derived decode there is no range, but its window is open all the same.
  const auto& derived = threads_[of_thread].derived;
  const auto later = std::upper_bound(derived.begin(), derived.end(), call.start_ns,
                                      [](Ns time, const Window* window) { return time < window->start_ns; });
  if (later == derived.begin() || (*(later - 1))->end_ns < call.end_ns()) return any;
  add_once(out.stages, (*(later - 1))->stage);
  return true;
}

const Surroundings& SurroundingsCache::look_up(const ApiCall& call, ThreadState& thread) {
  Surroundings& out = thread.last;
  out.groups.clear();
  out.stages.clear();
  out.top_stage = kNone;
  out.chosen = false;
  index_.enclosing(call, ranges_);
  for (const std::uint32_t range : ranges_) add_once(out.groups, table_.group_of(range));
  add_stages(call, call.thread, out);
  std::size_t open = 0;
  for (const std::uint32_t owner : thread.owners) {
    Surroundings of_owner;
    if (!add_stages(call, owner, of_owner)) continue;
    if (++open > 1) break;
    out.stages = std::move(of_owner.stages);
    out.top_stage = of_owner.top_stage;
    out.chosen = of_owner.chosen;
  }
  if (open > 1) {
    out.stages.clear();
    out.top_stage = kNone;
    out.chosen = false;
  }
  const auto& boundaries = thread.boundaries;
  const auto after = std::upper_bound(boundaries.begin(), boundaries.end(), call.start_ns);
  thread.from_ns = after == boundaries.begin() ? std::numeric_limits<Ns>::min() : *(after - 1);
  thread.to_ns = after == boundaries.end() ? std::numeric_limits<Ns>::max() : *after;
  // A call on a boundary or across one speaks only for itself.
  if (call.start_ns == thread.from_ns || call.end_ns() >= thread.to_ns) thread.from_ns = thread.to_ns = 0;
  return out;
}

}  // namespace nl::analysis
