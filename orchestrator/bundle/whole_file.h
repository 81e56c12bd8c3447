#pragma once

#include <filesystem>
#include <string_view>

namespace nl::orchestrator {

// A file that appears under its name with commit(), and leaves nothing behind without it: a temporary file, fsync,
// rename. Error(kOutput) names the file and, where the disk is full, what is left on it.
class WholeFile {
 public:
  explicit WholeFile(std::filesystem::path file);
  ~WholeFile();
  WholeFile(const WholeFile&) = delete;
  WholeFile& operator=(const WholeFile&) = delete;

  void append(std::string_view piece);
  void commit();

 private:
  [[noreturn]] void fail(const char* step) const;

  std::filesystem::path file_, unfinished_;
  int fd_ = -1;
};

}  // namespace nl::orchestrator
