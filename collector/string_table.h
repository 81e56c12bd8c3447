#pragma once

#include <cstddef>
#include <cstdint>

// Every distinct text of the process, once, for as long as the process lives. Memory comes from mmap, so
// that a program with an allocator of its own is left alone.
namespace nl::collector {

struct Text {
  std::uint64_t hash;
  std::uint32_t id;  // 0: none
  std::uint32_t length;
  const char* data;
};

std::uint64_t hash_text(const char* text, std::size_t length);
bool same_text(const Text& known, std::uint64_t hash, const char* text, std::size_t length);

class StringTable {
 public:
  // Their numbers count on from `before`.
  void number_from(std::uint32_t before) { before_ = before; }
  // Without any text; the memory is kept and used again, so that a text that somebody still reads is wrong at worst.
  void clear();
  const Text* find(std::uint64_t hash, const char* text, std::size_t length) const;
  const Text* add(std::uint64_t hash, const char* text, std::size_t length);  // nullptr: no memory
  std::uint32_t size() const { return count_; }
  const Text& operator[](std::uint32_t index) const { return *order_[index]; }  // ids are `before` + index + 1

 private:
  struct Block {
    Block* next;
  };

  bool next_block();
  void* allocate(std::size_t bytes);
  bool grow();
  void place(const Text* text);

  const Text** slots_ = nullptr;  // open addressing; capacity_ is a power of two
  const Text** order_ = nullptr;
  std::uint32_t capacity_ = 0;
  std::uint32_t count_ = 0, before_ = 0;
  Block* first_ = nullptr;  // all of them, in the order in which they are filled
  Block* last_ = nullptr;
  std::byte* block_ = nullptr;  // what is left of the last one that is in use
  std::size_t block_left_ = 0;
};

}  // namespace nl::collector
