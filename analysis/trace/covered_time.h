#pragma once

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "model/time.h"

namespace nl::analysis {

// The union of intervals that arrive in the order of their start.
class CoveredTime {
 public:
  void add(Ns start_ns, Ns end_ns) {
    if (end_ns <= until_ns_) return;
    total_ns_ += end_ns - (start_ns > until_ns_ ? start_ns : until_ns_);
    until_ns_ = end_ns;
  }
  Ns total_ns() const { return total_ns_; }
  Ns until_ns() const { return until_ns_; }
  // How much of it lies before that time, which must not be before the latest start.
  Ns before(Ns time_ns) const { return total_ns_ - (until_ns_ > time_ns ? until_ns_ - time_ns : 0); }

 private:
  Ns total_ns_ = 0;
  Ns until_ns_ = std::numeric_limits<Ns>::min();
};

using Spans = std::vector<std::pair<Ns, Ns>>;

// By time, none touching another.
inline Spans union_of(Spans spans) {
  std::sort(spans.begin(), spans.end());
  Spans merged;
  for (const auto& span : spans) {
    if (!merged.empty() && span.first <= merged.back().second) merged.back().second = std::max(merged.back().second, span.second);
    else merged.push_back(span);
  }
  return merged;
}

}  // namespace nl::analysis
