#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "analysis/staging/windows.h"

namespace nl::analysis {

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
  // The same for the parts that are one window's own: with many windows open, most parts are others'.
  template <class Visit>
  void each_of_window(std::uint32_t window, Ns start_ns, Ns end_ns, Visit visit) const {
    each_in(own_[window], start_ns, end_ns, visit);
  }

 private:
  using Parts = std::vector<Part>;                                 // by time
  static std::size_t first_after(const Parts& parts, Ns time_ns);  // that ends after the time
  template <class Visit>
  static void each_in(const Parts& parts, Ns start_ns, Ns end_ns, Visit visit) {
    for (std::size_t i = first_after(parts, start_ns); i < parts.size() && parts[i].start_ns < end_ns; ++i)
      visit(std::max(parts[i].start_ns, start_ns), std::min(parts[i].end_ns, end_ns));
  }

  std::vector<Parts> parts_;  // by process
  std::vector<Parts> own_;    // by window
};

}  // namespace nl::analysis
