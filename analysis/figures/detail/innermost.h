#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "analysis/staging/windows.h"
#include "analysis/trace/work_origin.h"
#include "model/time.h"
#include "model/trace.h"

namespace nl::analysis {

// The innermost range of one kind around a moment of a thread: an operator, a layer, a line. The ranges of a thread are laid out
// once as stretches of time, so that a question costs one search.
class InnermostItem {
 public:
  struct Stretch {
    Ns start_ns = 0;
    std::uint32_t range = kNone;
  };
  // `items`: by range, the item that it counts as, or kNone. The ranges must be sorted by start, longest first.
  InnermostItem(const Trace& trace, const std::vector<std::uint32_t>& items, const std::vector<std::uint32_t>& ranges_by_start);

  bool any() const { return any_; }
  // Its item, or kNone.
  std::uint32_t of(const WorkOrigin& origin) const;

 private:
  const Trace& trace_;
  const std::vector<std::uint32_t>& items_;
  std::vector<std::vector<Stretch>> threads_;
  std::vector<std::uint32_t> parents_;  // by range: the counted one that was innermost as it began
  bool any_ = false;
};

// The time of each process in which a stage is open, cut so that each moment belongs to one window: the one that began last.
class InnermostStages {
 public:
  struct Part {
    Ns start_ns = 0, end_ns = 0;
    std::uint32_t window = kNone;
  };
  // The windows by start.
  InnermostStages(std::uint32_t processes, const std::vector<Window>& windows);

  // visit(start, end) for the parts of a process in that time.
  template <class Visit>
  void each(std::uint32_t process, Ns start_ns, Ns end_ns, Visit visit) const {
    each_in(parts_[process], start_ns, end_ns, visit);
  }
  // The same for the parts that belong to one window: where many windows are open, most parts belong to others.
  template <class Visit>
  void each_of_window(std::uint32_t window, Ns start_ns, Ns end_ns, Visit visit) const {
    each_in(own_[window], start_ns, end_ns, visit);
  }

 private:
  using Parts = std::vector<Part>;  // by time
  template <class Visit>
  static void each_in(const Parts& parts, Ns start_ns, Ns end_ns, Visit visit) {
    auto part = std::upper_bound(parts.begin(), parts.end(), start_ns, [](Ns time_ns, const Part& each) { return time_ns < each.end_ns; });
    for (; part != parts.end() && part->start_ns < end_ns; ++part)
      visit(std::max(part->start_ns, start_ns), std::min(part->end_ns, end_ns));
  }

  std::vector<Parts> parts_;  // by process
  std::vector<Parts> own_;    // by window
};

}  // namespace nl::analysis
