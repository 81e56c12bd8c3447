#pragma once

#include <cstdint>
#include <vector>

#include "analysis/trace/work_origin.h"
#include "model/trace.h"

namespace nl::analysis {

// The innermost range of one kind around a moment of a thread: an operator, a layer, a line. The ranges of a thread are laid out
// once as stretches of time, so that a question costs one search.
class InnermostItem {
 public:
  // `items`: by range, what it counts as; kNone: it does not. The ranges by start, longest first.
  InnermostItem(const Trace& trace, const std::vector<std::uint32_t>& items, const std::vector<std::uint32_t>& ranges_by_start);

  bool any() const { return any_; }
  // Its item, or kNone.
  std::uint32_t of(const WorkOrigin& origin) const;

 private:
  struct Stretch {
    Ns start_ns = 0;
    std::uint32_t range = kNone;
  };
  class Layout;

  const Trace& trace_;
  const std::vector<std::uint32_t>& items_;
  std::vector<std::vector<Stretch>> threads_;
  std::vector<std::uint32_t> parents_;  // by range: the counted one that was innermost as it began
  bool any_ = false;
};

}  // namespace nl::analysis
