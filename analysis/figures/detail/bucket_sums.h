#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analysis/figures/detail/buckets.h"
#include "model/detail.h"

namespace nl::analysis {

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

  void add(std::uint32_t lane, Ns start_ns, Ns end_ns, std::uint32_t name);
  std::vector<std::vector<LaneBucket>> take();

 private:
  struct Lane {
    Ns covered_until_ns = std::numeric_limits<Ns>::min();
    std::vector<LaneBucket> buckets;
    std::vector<Ns> longest_ns;
  };
  const Buckets& buckets_;
  std::vector<Lane> lanes_;
};

}  // namespace nl::analysis
