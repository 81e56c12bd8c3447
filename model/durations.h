#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <vector>

#include "model/time.h"

namespace nl {

// Many durations in four bytes each: nearly all fit 32 bits (4.29 s), the rest are kept aside. The list
// grows in blocks, so that millions of durations never need twice their memory for a moment.
class Durations {
 public:
  void add(Ns duration_ns) {
    ++count_;
    total_ns_ += duration_ns;
    if (duration_ns < 0 || duration_ns > 0xFFFFFFFFLL) {
      large_.push_back(duration_ns);
      return;
    }
    if (blocks_.empty() || used_ == kBlock) {
      // The first block grows by doubling: most names have only a handful of calls.
      blocks_.emplace_back();
      blocks_.back().reserve(blocks_.size() == 1 ? 16 : kBlock);
      used_ = 0;
    }
    blocks_.back().push_back(static_cast<std::uint32_t>(duration_ns));
    ++used_;
  }
  // Moves the other's durations here.
  void append(Durations&& other) {
    std::move(other.blocks_.begin(), other.blocks_.end(), std::back_inserter(blocks_));
    large_.insert(large_.end(), other.large_.begin(), other.large_.end());
    if (!blocks_.empty()) used_ = blocks_.back().size();
    count_ += other.count_;
    total_ns_ += other.total_ns_;
    other = Durations();
  }
  std::size_t count() const { return count_; }
  Ns total_ns() const { return total_ns_; }
  // Nothing where some need more than 32 bits. In no particular order.
  std::optional<std::vector<std::uint32_t>> short_values() const {
    if (!large_.empty()) return std::nullopt;
    std::vector<std::uint32_t> all;
    all.reserve(count_);
    for (const auto& block : blocks_) all.insert(all.end(), block.begin(), block.end());
    return all;
  }
  // All of them, in no particular order.
  std::vector<Ns> values() const {
    std::vector<Ns> all(large_);
    all.reserve(count_);
    for (const auto& block : blocks_) all.insert(all.end(), block.begin(), block.end());
    return all;
  }

 private:
  static constexpr std::size_t kBlock = 16384;
  std::vector<std::vector<std::uint32_t>> blocks_;
  std::vector<Ns> large_;
  std::size_t used_ = 0;
  std::size_t count_ = 0;
  Ns total_ns_ = 0;
};

}  // namespace nl
