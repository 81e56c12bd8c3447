#pragma once

#include <filesystem>
#include <string>
#include <string_view>

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
  std::string text;   // unpacked, where the file is packed with gzip and this build has zlib
};

}  // namespace nl::parsers
