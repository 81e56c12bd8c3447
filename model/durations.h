#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <memory>
#include <span>
#include <vector>

#include "model/time.h"

namespace nl {

// Many durations in four bytes each: nearly all fit 32 bits (4.29 s), the rest are kept aside. The list
// grows in blocks, so that millions of durations never need twice their memory for a moment.
class Durations {
 public:
  Durations() = default;
  Durations(const Durations& other) : large_(other.large_), count_(other.count_), total_ns_(other.total_ns_) {
    other.each_short([&](std::span<const std::uint32_t> some) { blocks_.emplace_back(some); });
  }
  Durations(Durations&&) = default;
  Durations& operator=(Durations&&) = default;

  void add(Ns duration_ns) {
    ++count_;
    total_ns_ += duration_ns;
    if (duration_ns < 0 || duration_ns > 0xFFFFFFFFLL) {
      large_.push_back(duration_ns);
      return;
    }
    if (used_ == room_) grow();
    blocks_.back().times[used_++] = static_cast<std::uint32_t>(duration_ns);
  }
  // Moves the other's durations here.
  void append(Durations&& other) {
    seal();
    other.seal();
    std::move(other.blocks_.begin(), other.blocks_.end(), std::back_inserter(blocks_));
    large_.insert(large_.end(), other.large_.begin(), other.large_.end());
    count_ += other.count_;
    total_ns_ += other.total_ns_;
    other = Durations();
  }
  std::size_t count() const { return count_; }
  Ns total_ns() const { return total_ns_; }
  bool all_short() const { return large_.empty(); }  // all of them fit 32 bits
  // Those that do, a stretch at a time and in no particular order.
  template <class Visit>
  void each_short(Visit visit) const {
    for (const Block& block : blocks_) visit(std::span(block.times.get(), &block == &blocks_.back() && room_ > 0 ? used_ : block.used));
  }
  // All of them, in no particular order.
  std::vector<Ns> values() const {
    std::vector<Ns> all(large_);
    all.reserve(count_);
    each_short([&](std::span<const std::uint32_t> some) { all.insert(all.end(), some.begin(), some.end()); });
    return all;
  }

 private:
  // Of a size that goes back to the system as soon as it is no longer needed.
  static constexpr std::size_t kBlock = 32768, kFirst = 16;
  struct Block {
    std::unique_ptr<std::uint32_t[]> times;
    std::size_t used = 0;  // unless it is the last one

    explicit Block(std::size_t room) : times(new std::uint32_t[room]) {}
    explicit Block(std::span<const std::uint32_t> some) : Block(some.size()) {
      std::copy(some.begin(), some.end(), times.get());
      used = some.size();
    }
  };

  // The first block grows by doubling: most names have only a handful of calls.
  void grow() {
    const bool doubles = room_ > 0 && room_ < kBlock && blocks_.size() == 1;
    const std::size_t room = doubles ? room_ * 2 : blocks_.empty() ? kFirst : kBlock;
    Block block(room);
    if (doubles) {
      std::copy_n(blocks_.back().times.get(), used_, block.times.get());
      blocks_.back() = std::move(block);
    } else {
      seal();
      blocks_.push_back(std::move(block));
    }
    room_ = room;
  }
  // What follows begins a block of its own.
  void seal() {
    if (room_ > 0) blocks_.back().used = used_;
    used_ = room_ = 0;
  }

  std::vector<Block> blocks_;
  std::vector<Ns> large_;
  std::size_t used_ = 0, room_ = 0;  // of the last block; no room: it is sealed
  std::size_t count_ = 0;
  Ns total_ns_ = 0;
};

}  // namespace nl
