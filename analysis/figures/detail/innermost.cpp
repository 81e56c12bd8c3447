#include "analysis/figures/detail/innermost.h"

#include <algorithm>
#include <limits>

#include "analysis/figures/detail/open_set.h"

namespace nl::analysis {

// Of one thread: the ranges that are open.
class InnermostItem::Layout {
 public:
  Layout(const Trace& trace, std::vector<Stretch>& stretches) : trace_(trace), stretches_(stretches) {}

  std::uint32_t begin(std::uint32_t range) {
    close_until(trace_.ranges[range].start_ns);
    const std::uint32_t parent = open_.innermost();
    open_.add(range, trace_.ranges[range].end_ns);
    mark(trace_.ranges[range].start_ns);
    return parent;
  }
  void close_until(Ns time_ns) {
    while (!open_.empty() && open_.first_end_ns() <= time_ns) {
      const Ns end_ns = open_.first_end_ns();
      open_.close_first();
      mark(end_ns);
    }
  }

 private:
  void mark(Ns time_ns) {
    const std::uint32_t innermost = open_.innermost();
    if (!stretches_.empty() && stretches_.back().start_ns == time_ns) stretches_.back().range = innermost;
    else stretches_.push_back({time_ns, innermost});
  }

  const Trace& trace_;
  std::vector<Stretch>& stretches_;
  OpenSet open_;
};

InnermostItem::InnermostItem(const Trace& trace, const std::vector<std::uint32_t>& items, const std::vector<std::uint32_t>& ranges_by_start)
    : trace_(trace), items_(items), threads_(trace.threads.size()), parents_(trace.ranges.size(), kNone) {
  std::vector<Layout> layouts;
  layouts.reserve(threads_.size());
  for (auto& thread : threads_) layouts.emplace_back(trace, thread);
  for (const std::uint32_t i : ranges_by_start) {
    const std::uint32_t thread = trace.ranges[i].thread;
    const bool backward = trace.ranges[i].end_ns < trace.ranges[i].start_ns;
    if (items[i] == kNone || thread >= threads_.size() || backward) continue;
    parents_[i] = layouts[thread].begin(i);
    any_ = true;
  }
  for (Layout& layout : layouts) layout.close_until(std::numeric_limits<Ns>::max());
}

std::uint32_t InnermostItem::of(const WorkOrigin& origin) const {
  if (origin.thread >= threads_.size()) return kNone;
  const std::vector<Stretch>& stretches = threads_[origin.thread];
  const auto after = std::upper_bound(stretches.begin(), stretches.end(), origin.start_ns,
                                      [](Ns time_ns, const Stretch& each) { return time_ns < each.start_ns; });
  if (after == stretches.begin()) return kNone;
  // A call may outlast the range that it began in: then it belongs to one further out.
  std::uint32_t range = std::prev(after)->range;
  while (range != kNone && trace_.ranges[range].end_ns < origin.end_ns) range = parents_[range];
  return range == kNone ? kNone : items_[range];
}

}  // namespace nl::analysis
