#pragma once

#include <algorithm>
#include <cstdint>

#include "analysis/figures/detail/exact_windows.h"

namespace nl::analysis {

// Equal parts of the capture.
class Buckets {
 public:
  Buckets(const CaptureSpan& capture, std::uint32_t most)
      : start_ns_(capture.start_ns), length_ns_(std::max<Ns>(1, (capture.end_ns - capture.start_ns + most - 1) / most)),
        count_(static_cast<std::uint32_t>(std::max<Ns>(1, (capture.end_ns - capture.start_ns + length_ns_ - 1) / length_ns_))) {}

  Ns length_ns() const { return length_ns_; }
  std::uint32_t count() const { return count_; }
  std::uint32_t of(Ns time_ns) const {
    return static_cast<std::uint32_t>(std::clamp<Ns>((time_ns - start_ns_) / length_ns_, 0, count_ - 1));
  }
  // visit(bucket, time in it)
  template <class Visit>
  void spread(Ns start_ns, Ns end_ns, Visit visit) const {
    for (std::uint32_t i = of(start_ns); start_ns < end_ns; ++i) {
      const Ns until_ns = i + 1 < count_ ? std::min(end_ns, start_ns_ + (i + 1) * length_ns_) : end_ns;
      if (until_ns > start_ns) visit(i, until_ns - start_ns);
      start_ns = std::max(start_ns, until_ns);
    }
  }

 private:
  Ns start_ns_, length_ns_;
  std::uint32_t count_;
};

}  // namespace nl::analysis
