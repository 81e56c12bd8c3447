#include "collector/string_table.h"

#include <cstring>
#include <new>
#include <utility>

#include <sys/mman.h>

namespace nl::collector {
namespace {

void* map_memory(std::size_t bytes) {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

std::uint64_t mix(std::uint64_t value) {
  value *= 0x9E3779B97F4A7C15ULL;
  return value ^ (value >> 32);
}

}  // namespace

std::uint64_t hash_text(const char* text, std::size_t length) {
  std::uint64_t hash = mix(length + 1);
  for (; length >= 8; text += 8, length -= 8) {
    std::uint64_t word;
    std::memcpy(&word, text, 8);
    hash = mix(hash ^ word);
  }
  std::uint64_t rest = 0;
  std::memcpy(&rest, text, length);
  return mix(hash ^ rest);
}

bool same_text(const Text& known, std::uint64_t hash, const char* text, std::size_t length) {
  return known.hash == hash && known.length == length && std::memcmp(known.data, text, length) == 0;
}

const Text* StringTable::find(std::uint64_t hash, const char* text, std::size_t length) const {
  if (capacity_ == 0) return nullptr;
  for (std::uint32_t i = static_cast<std::uint32_t>(hash) & (capacity_ - 1); slots_[i] != nullptr; i = (i + 1) & (capacity_ - 1))
    if (same_text(*slots_[i], hash, text, length)) return slots_[i];
  return nullptr;
}

const Text* StringTable::add(std::uint64_t hash, const char* text, std::size_t length) {
  if (count_ * 2 >= capacity_ && !grow()) return nullptr;
  auto* memory = static_cast<std::byte*>(allocate(sizeof(Text) + length));
  if (memory == nullptr) return nullptr;
  auto* copy = reinterpret_cast<char*>(memory + sizeof(Text));
  std::memcpy(copy, text, length);
  auto* entry = ::new (memory) Text{hash, before_ + count_ + 1, static_cast<std::uint32_t>(length), copy};
  order_[count_++] = entry;
  place(entry);
  return entry;
}

void StringTable::clear() {
  if (capacity_ > 0) std::memset(slots_, 0, capacity_ * sizeof(Text*));
  count_ = 0;
  last_ = nullptr;
  block_left_ = 0;
}

// One that was used before, or a new one.
bool StringTable::next_block() {
  constexpr std::size_t kBlockBytes = 256 * 1024;
  Block* next = last_ != nullptr ? last_->next : first_;
  if (next == nullptr) {
    void* memory = map_memory(kBlockBytes);
    if (memory == nullptr) return false;
    next = ::new (memory) Block{nullptr};
    (last_ != nullptr ? last_->next : first_) = next;
  }
  last_ = next;
  block_ = reinterpret_cast<std::byte*>(next + 1);
  block_left_ = kBlockBytes - sizeof(Block);
  return true;
}

void* StringTable::allocate(std::size_t bytes) {
  bytes = (bytes + 7) & ~std::size_t{7};
  if (bytes > block_left_ && !next_block()) return nullptr;
  void* memory = block_;
  block_ += bytes;
  block_left_ -= bytes;
  return memory;
}

bool StringTable::grow() {
  std::uint32_t capacity = capacity_ == 0 ? 1024 : capacity_ * 2;
  auto** slots = static_cast<const Text**>(map_memory(capacity * sizeof(Text*)));
  auto** order = static_cast<const Text**>(map_memory(capacity * sizeof(Text*)));
  if (slots == nullptr || order == nullptr) return false;
  std::swap(slots, slots_);
  std::swap(order, order_);
  std::swap(capacity, capacity_);
  for (std::uint32_t i = 0; i < count_; ++i) place(order_[i] = order[i]);
  if (capacity != 0) {
    munmap(slots, capacity * sizeof(Text*));
    munmap(order, capacity * sizeof(Text*));
  }
  return true;
}

void StringTable::place(const Text* text) {
  std::uint32_t i = static_cast<std::uint32_t>(text->hash) & (capacity_ - 1);
  while (slots_[i] != nullptr) i = (i + 1) & (capacity_ - 1);
  slots_[i] = text;
}

}  // namespace nl::collector
