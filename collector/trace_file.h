#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>

// The trace file of this process: where it is, and how threads get chunks of it. Everything here is the
// slow path: once per chunk, under a lock.
namespace nl::collector {

struct Chunk {
  std::byte* data = nullptr;  // kChunkBytes, mapped shared
  std::uint32_t used = 0;
};

class TraceFile {
 public:
  // Where the files of this process and of its forks go; made absolute at once, because programs change
  // their working directory. Where that fails it returns false and says so on stderr.
  bool set_folder(const char* folder);
  bool open();  // a new file for this process

  bool acquire(Chunk& chunk);        // one that a finished thread left, or a new one
  bool acquire_fresh(Chunk& chunk);  // always a new one, at the end of the file
  void release(const Chunk& chunk);
  std::uint64_t next_sequence() { return sequence_++; }
  void forget();  // after fork: the file is the parent's

  // Tells the user what stopped the recording, once per process.
  static void complain(const char* what, const char* where, int error);

 private:
  bool map_chunk(int fd, Chunk& chunk);

  static constexpr std::size_t kMaxFree = 256;
  char folder_[4096] = {};
  char path_[4096] = {};
  dev_t device_ = 0;
  ino_t inode_ = 0;
  bool open_ = false;
  std::uint64_t sequence_ = 0;
  std::uint32_t chunks_ = 0;
  Chunk free_[kMaxFree] = {};
  std::size_t free_count_ = 0;
};

}  // namespace nl::collector
