#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "runs/orchestrator_names.h"

// A tar packed by zstd, through libarchive. Two sources, of which Meson takes one: tar_libarchive.cpp, or tar_none.cpp, whose
// constructors say how to get the other.
namespace nl::runs {

class TarWriter {
 public:
  explicit TarWriter(const std::filesystem::path& file);  // Error(kOutput), here and later, where it cannot be written
  ~TarWriter();                                           // leaves nothing behind without commit()
  TarWriter(const TarWriter&) = delete;
  TarWriter& operator=(const TarWriter&) = delete;

  void begin_file(const std::string& path, std::uint64_t size_bytes);
  void append(std::string_view piece);  // of the file that was begun last, size_bytes in all
  void commit();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

enum class TarEntryKind { kFile, kSymbolicLink, kHardLink, kFolder, kDevice };

struct TarEntry {
  TarEntryKind kind = TarEntryKind::kFile;
  std::string path;
  std::uint64_t size_bytes = 0;
};

class TarReader {
 public:
  explicit TarReader(const std::filesystem::path& file);  // Error(kInput), here and later, where it is damaged, cut or no archive
  ~TarReader();
  TarReader(const TarReader&) = delete;
  TarReader& operator=(const TarReader&) = delete;

  std::optional<TarEntry> next();
  std::size_t read(char* buffer, std::size_t size);  // of the entry that came last; 0: its end

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace nl::runs
