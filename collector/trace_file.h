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
  static constexpr std::size_t kMostPath = 4096;

  // Where the files of this process and of its forks go; made absolute at once, because programs change
  // their working directory. Where that fails it returns false and says so on stderr.
  bool set_folder(const char* folder);
  bool open();  // a new file for this process

  // From now on the newest files only: each call of begin_next() goes on in another, and the oldest is removed. A file takes twice
  // `most_chunks` at most, and wants another one after it from `most_chunks` on.
  void keep_ring(std::uint32_t files, std::uint32_t most_chunks);
  // `folder`: where the next file lies that is no longer removed, because it holds a window; nullptr: one of the ring. Where no file
  // can be made it returns false, and nothing is recorded until the next call.
  bool begin_next(const char* folder);
  bool wants_next() const { return most_chunks_ > 0 && chunks_ >= most_chunks_; }
  void link_kept(const char* folder) const;  // the files of the ring, under the same names
  void remove_ring();                        // at an orderly end

  bool acquire(Chunk& chunk);        // one that a finished thread left, or a new one
  bool acquire_fresh(Chunk& chunk);  // always a new one, at the end of the file
  void release(const Chunk& chunk);
  std::uint64_t next_sequence() { return sequence_++; }
  void forget();  // after fork: the file is the parent's

  // Tells the user what stopped the recording, once per process.
  static void complain(const char* what, const char* where, int error);

 private:
  struct Kept {
    char path[kMostPath];
    bool in_ring;
  };

  bool create(const char* folder);
  bool map_chunk(int fd, Chunk& chunk);
  void remember();
  void let_go();

  static constexpr std::size_t kMaxFree = 256, kMostKept = 8;
  char folder_[kMostPath] = {};
  char path_[kMostPath] = {};
  dev_t device_ = 0;
  ino_t inode_ = 0;
  bool open_ = false;
  std::uint64_t sequence_ = 0;
  std::uint32_t chunks_ = 0;
  Chunk free_[kMaxFree] = {};
  std::size_t free_count_ = 0;
  // Of a ring. The newest comes last.
  std::uint32_t ring_files_ = 0, most_chunks_ = 0, number_ = 0;
  std::int64_t began_ns_ = 0;
  bool in_window_ = false;
  Kept kept_[kMostKept] = {};
  std::uint32_t kept_count_ = 0;
};

}  // namespace nl::collector
