#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace nl::collector {

// The memory that CUPTI writes its records into: a fixed number of slots, mapped once. CUPTI takes one per
// thread that calls CUDA and brings it back full; where all are out, it gets none and counts what it drops.
// Taking a slot and giving it back never blocks.
class GpuBuffers {
 public:
  static constexpr std::size_t kMaxSlots = 1024;

  bool create(std::size_t slot_bytes, std::size_t slots);
  // nullptr where all are in use. `bytes`: how much CUPTI may use. The slower the last slots filled, the less, so
  // that what a killed process had not handed over is never more than about a second's records.
  std::uint8_t* take(std::size_t& bytes, std::int64_t now_ns);
  // Zeroes it for the next use; otherwise CUPTI zeroes it, in the program's own thread.
  void give_back(std::uint8_t* buffer, std::size_t bytes);

 private:
  static constexpr std::size_t kLeastBytes = 64 * 1024;
  std::size_t next_size(std::int64_t now_ns);

  std::uint8_t* memory_ = nullptr;
  std::size_t slot_bytes_ = 0;
  std::atomic<std::uint64_t> free_[kMaxSlots / 64] = {};
  std::atomic<std::int64_t> last_taken_ns_{0};
  std::atomic<std::size_t> size_{0};
};

}  // namespace nl::collector
