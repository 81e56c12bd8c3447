#include "collector/gpu/buffers.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <iterator>

#include <sys/mman.h>

namespace nl::collector {

bool GpuBuffers::create(std::size_t slot_bytes, std::size_t slots) {
  slot_bytes_ = std::max((slot_bytes + 4095) & ~std::size_t{4095}, kLeastBytes);
  slots = std::clamp<std::size_t>(slots, 1, kMaxSlots);
  void* memory = mmap(nullptr, slot_bytes_ * slots, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return false;
  memory_ = static_cast<std::uint8_t*>(memory);
  size_.store(slot_bytes_, std::memory_order_relaxed);
  for (std::size_t i = 0; i < slots; ++i) free_[i / 64].fetch_or(std::uint64_t{1} << i % 64, std::memory_order_relaxed);
  // The lowest slots are used first and again: with their pages in place the program's threads meet no fault.
  constexpr std::size_t kUsual = 2;
  constexpr int kPopulateWrite = 23;  // MADV_POPULATE_WRITE, of Linux 5.14; older ones fault as usual
  madvise(memory_, slot_bytes_ * std::min(slots, kUsual), kPopulateWrite);
  return true;
}

std::size_t GpuBuffers::next_size(std::int64_t now_ns) {
  std::int64_t taken_ns = now_ns - last_taken_ns_.exchange(now_ns, std::memory_order_relaxed);
  std::size_t size = size_.load(std::memory_order_relaxed);
  if (taken_ns > 400'000'000) size = std::max(size / 2, kLeastBytes);
  else if (taken_ns < 100'000'000) size = std::min(size * 2, slot_bytes_);
  size_.store(size, std::memory_order_relaxed);
  return size;
}

std::uint8_t* GpuBuffers::take(std::size_t& bytes, std::int64_t now_ns) {
  for (std::size_t word = 0; word < std::size(free_); ++word)
    for (std::uint64_t bits = free_[word].load(std::memory_order_relaxed); bits != 0; bits = free_[word].load(std::memory_order_relaxed)) {
      std::uint64_t bit = bits & -bits;
      if ((free_[word].fetch_and(~bit, std::memory_order_acquire) & bit) == 0) continue;
      bytes = next_size(now_ns);
      return memory_ + (word * 64 + static_cast<std::size_t>(std::countr_zero(bit))) * slot_bytes_;
    }
  bytes = 0;
  return nullptr;
}

void GpuBuffers::give_back(std::uint8_t* buffer, std::size_t bytes) {
  std::size_t slot = static_cast<std::size_t>(buffer - memory_) / slot_bytes_;
  std::memset(buffer, 0, std::min(bytes, slot_bytes_));
  free_[slot / 64].fetch_or(std::uint64_t{1} << slot % 64, std::memory_order_release);
}

}  // namespace nl::collector
