#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>

namespace nl::parsers {

// The bytes of a file, unpacked on the way where it is packed with gzip (as torch.profiler does for .json.gz).
class ByteSource {
 public:
  // Throws Error(kInput) where the file cannot be read, or is packed and this build has no zlib.
  explicit ByteSource(const std::filesystem::path& file);
  ~ByteSource();
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;

  // Fewer than asked for only at the end; a packed file that is cut off ends where it was cut.
  std::size_t read(char* to, std::size_t size);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace nl::parsers
