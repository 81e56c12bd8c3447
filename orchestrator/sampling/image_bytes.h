#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <vector>

namespace nl::orchestrator::sampling {

// The bytes of a program or library. A file is read block by block and never mapped: a file that is cut while it is mapped ends the
// process that reads it.
class ImageBytes {
 public:
  // Null: it cannot be opened, or is not a regular file.
  static std::unique_ptr<ImageBytes> open(const std::filesystem::path& file);
  explicit ImageBytes(std::span<const unsigned char> memory) : memory_(memory), size_(memory.size()) {}
  ~ImageBytes();
  ImageBytes(const ImageBytes&) = delete;
  ImageBytes& operator=(const ImageBytes&) = delete;

  std::uint64_t size() const { return size_; }
  // False: not all of it is there.
  bool read(std::uint64_t offset, void* to, std::size_t bytes) const;
  template <class Value>
    requires std::is_trivially_copyable_v<Value>
  bool read(std::uint64_t offset, Value& value) const {
    return read(offset, &value, sizeof value);
  }
  // Up to so many bytes, as many as there are.
  std::vector<unsigned char> some(std::uint64_t offset, std::size_t most) const;
  // Up to a zero byte; empty where there is none.
  std::string text(std::uint64_t offset) const;

 private:
  ImageBytes(int fd, std::uint64_t size) : fd_(fd), size_(size) {}
  const std::vector<unsigned char>* block(std::uint64_t number) const;

  std::span<const unsigned char> memory_;
  int fd_ = -1;
  std::uint64_t size_ = 0;
  mutable std::unordered_map<std::uint64_t, std::vector<unsigned char>> blocks_;
};

}  // namespace nl::orchestrator::sampling
