#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace nl::parsers::columns {

// A file of a table, mapped for reading. Any number of threads may read one.
class MappedFile {
 public:
  // `kind`: "Parquet file", for errors. Throws Error(kInput) where it cannot be read.
  MappedFile(const std::filesystem::path& file, std::string kind);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  const std::string& name() const { return name_; }
  std::string_view bytes() const { return bytes_; }
  // So many bytes from `at`; `what` they are, for the error where they are not all there.
  std::string_view part(std::uint64_t at, std::uint64_t size, std::string_view what) const;

  [[noreturn]] void damaged(std::string_view what) const;
  [[noreturn]] void refused(std::string_view what) const;  // it is sound, but of a kind that is not read

 private:
  std::string name_, kind_;
  std::string_view bytes_;
};

}  // namespace nl::parsers::columns
