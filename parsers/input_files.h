#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

struct gzFile_s;  // of zlib

// The files that readers are given: their first bytes, all of them, and which there are.
namespace nl::parsers {

inline constexpr std::string_view kGzipMagic = "\x1f\x8b", kZstdMagic = "\x28\xb5\x2f\xfd";

// The beginning of a file, for formats to recognise themselves by.
struct FileHead {
  // Throws Error(kInput) where the file cannot be read.
  explicit FileHead(const std::filesystem::path& path);

  bool starts_with(std::string_view magic) const { return std::string_view(bytes).substr(0, magic.size()) == magic; }
  // '{' or '[' where the file, once unpacked, may be JSON; else 0.
  char json_opening() const;

  std::filesystem::path path;
  std::string bytes;  // as they lie in the file
  std::string text;   // unpacked, where the file is packed with gzip
};

// The bytes of a file, unpacked on the way where it is packed with gzip (as torch.profiler does for .json.gz).
class ByteSource {
 public:
  // Throws Error(kInput) where the file cannot be read.
  explicit ByteSource(const std::filesystem::path& file);

  // Fewer than asked for only at the end; a packed file that is cut off ends where it was cut.
  std::size_t read(char* to, std::size_t size);

 private:
  struct Close {
    void operator()(gzFile_s* file) const;
  };
  std::unique_ptr<gzFile_s, Close> file_;
};

// The files that the processes of a run leave in a folder, "facts-4711.json", by name. Files above
// `max_bytes` are left out, because nl-stage did not write them.
std::vector<std::filesystem::path> process_files(const std::filesystem::path& folder, std::string_view prefix, std::string_view suffix,
                                                 std::uintmax_t max_bytes = std::numeric_limits<std::uintmax_t>::max());

}  // namespace nl::parsers
