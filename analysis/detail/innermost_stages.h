#pragma once

#include <cstdint>
#include <vector>

#include "analysis/stages/windows.h"

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

  // visit(start, end, window) for the parts of a process in that time.
  template <class Visit>
  void each(std::uint32_t process, Ns start_ns, Ns end_ns, Visit visit) const {
    for (std::size_t i = first_after(process, start_ns); i < parts_[process].size() && parts_[process][i].start_ns < end_ns; ++i) {
      const Part& part = parts_[process][i];
      visit(part.start_ns > start_ns ? part.start_ns : start_ns, part.end_ns < end_ns ? part.end_ns : end_ns, part.window);
    }
  }

 private:
  std::size_t first_after(std::uint32_t process, Ns time_ns) const;  // that ends after the time

  std::vector<std::vector<Part>> parts_;  // by process, by time
};

}  // namespace nl::analysis
