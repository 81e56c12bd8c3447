#include "analysis/figures/detail/buckets.h"

#include <tuple>

namespace nl::analysis {
namespace {

auto key_of_sum(const BucketSum& sum) { return std::tuple(sum.bucket, sum.what, sum.device); }

// Sums of one bucket, kernel and device become one.
void merge_alike(std::vector<BucketSum>& sums) {
  std::sort(sums.begin(), sums.end(), [](const BucketSum& a, const BucketSum& b) { return key_of_sum(a) < key_of_sum(b); });
  std::size_t last = 0;
  for (std::size_t i = 1; i < sums.size(); ++i) {
    if (key_of_sum(sums[last]) != key_of_sum(sums[i])) {
      sums[++last] = sums[i];
      continue;
    }
    sums[last].time_ns += sums[i].time_ns;
    sums[last].calls += sums[i].calls;
  }
  if (!sums.empty()) sums.resize(last + 1);
}

}  // namespace

void BucketSummer::add(Ns start_ns, Ns time_ns, std::uint32_t what, std::uint32_t device) {
  if (const std::uint32_t bucket = buckets_.of(start_ns) / scale_; bucket != bucket_) {
    flush();
    bucket_ = buckets_.of(start_ns) / scale_;
  }
  const std::size_t cell = std::size_t{what} * devices_ + device;
  if (cell >= cells_.size()) cells_.resize(cell + 1);
  BucketSum& sum = cells_[cell];
  if (sum.calls == 0) {
    touched_.push_back(static_cast<std::uint32_t>(cell));
    sum = {bucket_, what, device, 0, 0};
  }
  sum.time_ns += time_ns;
  ++sum.calls;
}

void BucketSummer::flush() {
  for (const std::uint32_t cell : touched_) {
    done_.push_back(cells_[cell]);
    cells_[cell].calls = 0;
  }
  touched_.clear();
  while (done_.size() > most_ && scale_ < buckets_.count()) join_pairs();
}

void BucketSummer::join_pairs() {
  for (BucketSum& sum : done_) sum.bucket /= 2;
  merge_alike(done_);
  scale_ *= 2;
}

BucketSums BucketSummer::take() {
  flush();
  merge_alike(done_);
  return {scale_, std::move(done_)};
}

void LaneFilling::add(std::uint32_t number, Ns start_ns, Ns end_ns, std::uint32_t name, KernelClass kind) {
  Lane& lane = lanes_[number];
  if (lane.buckets.empty()) {
    lane.buckets.resize(buckets_.count());
    lane.longest_ns.resize(buckets_.count(), -1);
    lane.by_kind.resize(buckets_.count());
  }
  const auto offer = [&](std::uint32_t bucket, Ns time_ns) {
    if (time_ns <= lane.longest_ns[bucket]) return;
    lane.longest_ns[bucket] = time_ns;
    lane.buckets[bucket].name = name;
  };
  const std::uint32_t first = buckets_.of(start_ns);
  ++lane.buckets[first].slices;
  offer(first, 0);
  buckets_.spread(std::max(start_ns, lane.covered_until_ns), end_ns, [&](std::uint32_t bucket, Ns time_ns) {
    lane.buckets[bucket].busy_ns += time_ns;
    lane.by_kind[bucket][static_cast<std::size_t>(kind)] += time_ns;
    offer(bucket, time_ns);
  });
  lane.covered_until_ns = std::max(lane.covered_until_ns, end_ns);
}

std::vector<std::vector<LaneBucket>> LaneFilling::take() {
  std::vector<std::vector<LaneBucket>> out;
  for (Lane& lane : lanes_) {
    auto& list = out.emplace_back();
    for (std::uint32_t i = 0; i < lane.buckets.size(); ++i) {
      const auto most = std::max_element(lane.by_kind[i].begin(), lane.by_kind[i].end());
      lane.buckets[i].bucket = i;
      lane.buckets[i].kind = static_cast<KernelClass>(most - lane.by_kind[i].begin());
      if (lane.longest_ns[i] >= 0) list.push_back(lane.buckets[i]);
    }
  }
  return out;
}

}  // namespace nl::analysis
