#include "analysis/figures/detail/innermost.h"

#include <limits>
#include <queue>
#include <unordered_set>
#include <utility>

namespace nl::analysis {
namespace {

// What is open while time passes, and which of it began last. Ranges may end in any order, and thousands may be open at once (requests
// of a server): each costs a logarithm, not a look at all others.
class OpenSet {
 public:
  void add(std::uint32_t item, Ns end_ns) {
    by_start_.push_back(item);
    by_end_.emplace(end_ns, item);
  }
  // The one that began last; kNone: nothing is open.
  std::uint32_t innermost() const { return by_start_.empty() ? kNone : by_start_.back(); }
  bool empty() const { return by_end_.empty(); }
  Ns first_end_ns() const { return by_end_.top().first; }
  void close_first() {
    ended_.insert(by_end_.top().second);
    by_end_.pop();
    while (!by_start_.empty() && ended_.erase(by_start_.back()) > 0) by_start_.pop_back();
  }

 private:
  using End = std::pair<Ns, std::uint32_t>;
  std::vector<std::uint32_t> by_start_;  // with some that have ended: they go once they are last
  std::unordered_set<std::uint32_t> ended_;
  std::priority_queue<End, std::vector<End>, std::greater<>> by_end_;
};

// The open ranges of one thread.
class RangeLayout {
 public:
  RangeLayout(const Trace& trace, std::vector<InnermostItem::Stretch>& stretches) : trace_(trace), stretches_(stretches) {}

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
  std::vector<InnermostItem::Stretch>& stretches_;
  OpenSet open_;
};

// The windows of one process that are open, and the parts that they leave behind.
class PartsOfProcess {
 public:
  PartsOfProcess(const std::vector<Window>& windows, std::vector<InnermostStages::Part>& parts) : windows_(windows), parts_(parts) {}

  void add(std::uint32_t window) {
    advance(windows_[window].start_ns);
    open_.add(window, windows_[window].end_ns);
  }
  // Up to the time: what is open changes only where a window ends.
  void advance(Ns time_ns) {
    while (!open_.empty() && at_ns_ < time_ns) {
      const Ns until_ns = std::min(time_ns, open_.first_end_ns());
      put(open_.innermost(), until_ns);
      at_ns_ = std::max(at_ns_, until_ns);
      while (!open_.empty() && open_.first_end_ns() <= at_ns_) open_.close_first();
    }
    at_ns_ = std::max(at_ns_, time_ns);
  }

 private:
  void put(std::uint32_t window, Ns until_ns) {
    if (until_ns <= at_ns_) return;
    if (!parts_.empty() && parts_.back().window == window && parts_.back().end_ns == at_ns_) parts_.back().end_ns = until_ns;
    else parts_.push_back({at_ns_, until_ns, window});
  }

  const std::vector<Window>& windows_;
  std::vector<InnermostStages::Part>& parts_;
  OpenSet open_;
  Ns at_ns_ = std::numeric_limits<Ns>::min();
};

}  // namespace

InnermostItem::InnermostItem(const Trace& trace, const std::vector<std::uint32_t>& items, const std::vector<std::uint32_t>& ranges_by_start)
    : trace_(trace), items_(items), threads_(trace.threads.size()), parents_(trace.ranges.size(), kNone) {
  std::vector<RangeLayout> layouts;
  layouts.reserve(threads_.size());
  for (auto& thread : threads_) layouts.emplace_back(trace, thread);
  for (const std::uint32_t i : ranges_by_start) {
    const std::uint32_t thread = trace.ranges[i].thread;
    const bool backward = trace.ranges[i].end_ns < trace.ranges[i].start_ns;
    if (items[i] == kNone || thread >= threads_.size() || backward) continue;
    parents_[i] = layouts[thread].begin(i);
    any_ = true;
  }
  for (RangeLayout& layout : layouts) layout.close_until(std::numeric_limits<Ns>::max());
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

InnermostStages::InnermostStages(std::uint32_t processes, const std::vector<Window>& windows) : parts_(processes), own_(windows.size()) {
  std::vector<PartsOfProcess> makers;
  makers.reserve(processes);
  for (auto& parts : parts_) makers.emplace_back(windows, parts);
  for (std::uint32_t i = 0; i < windows.size(); ++i) makers[windows[i].process].add(i);
  for (PartsOfProcess& maker : makers) maker.advance(std::numeric_limits<Ns>::max());
  for (const Parts& parts : parts_)
    for (const Part& part : parts) own_[part.window].push_back(part);
}

}  // namespace nl::analysis
