#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "analysis/figures/detail/exact_windows.h"
#include "model/detail.h"

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

// Sums of what starts in each bucket. Comes in the order of start. At most `most` sums: where there are more, neighbouring
// buckets are joined, so that no capture needs more memory.
class BucketSummer {
 public:
  BucketSummer(const Buckets& buckets, std::uint32_t devices, std::size_t most) : buckets_(buckets), devices_(devices), most_(most) {}

  void add(Ns start_ns, Ns time_ns, std::uint32_t what, std::uint32_t device);
  BucketSums take();

 private:
  void flush();
  void join_pairs();

  const Buckets& buckets_;
  std::uint32_t devices_;
  std::size_t most_;
  std::uint32_t scale_ = 1;
  std::uint32_t bucket_ = 0;            // of that scale
  std::vector<BucketSum> cells_;        // of the bucket at hand, by `what` and device
  std::vector<std::uint32_t> touched_;  // those with calls
  std::vector<BucketSum> done_;
};

// How full a lane is in each bucket. Slices come in the order of start.
class LaneFilling {
 public:
  LaneFilling(const Buckets& buckets, std::size_t lanes) : buckets_(buckets), lanes_(lanes) {}

  void add(std::uint32_t lane, Ns start_ns, Ns end_ns, std::uint32_t name, KernelClass kind = KernelClass::kOther);
  std::vector<std::vector<LaneBucket>> take();

 private:
  struct Lane {
    Ns covered_until_ns = std::numeric_limits<Ns>::min();
    std::vector<LaneBucket> buckets;
    std::vector<Ns> longest_ns;
    std::vector<std::array<Ns, kKernelClasses>> by_kind;
  };
  const Buckets& buckets_;
  std::vector<Lane> lanes_;
};

}  // namespace nl::analysis
