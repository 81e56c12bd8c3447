#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "orchestrator/sampling/unwind_table.h"

namespace nl::orchestrator::sampling {

// A program or library that processes have mapped.
struct Image {
  std::string file;  // "[vdso]" and "//anon" among them
  std::unique_ptr<ElfImage> elf;
  std::unique_ptr<UnwindTable> unwind;  // both empty: it could not be read
};

// All that were met, each read once, and only when a stack leads there.
class Images {
 public:
  explicit Images(const Machine& machine) : machine_(machine) {}

  std::uint32_t number_of(std::string_view file);
  Image& operator[](std::uint32_t number);
  const std::string& file_of(std::uint32_t number) const { return images_[number].image.file; }

 private:
  struct Entry {
    Image image;
    bool opened = false;
  };
  const Machine& machine_;
  std::map<std::string, std::uint32_t, std::less<>> numbers_;
  std::vector<Entry> images_;
};

struct Mapping {
  std::uint64_t start = 0, end = 0, file_offset = 0;
  std::uint32_t image = 0;
};

// Where a process has code.
class AddressSpace {
 public:
  // A new mapping takes the place of what was there before.
  void map(const Mapping& mapping);
  const Mapping* at(std::uint64_t address) const;

 private:
  std::map<std::uint64_t, Mapping> mappings_;  // by start
};

}  // namespace nl::orchestrator::sampling
