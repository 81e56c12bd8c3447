#pragma once

#include <memory>

#include "parsers/sqlite_pages/page_file.h"

namespace nl::parsers::sqlite_pages {

// A stretch of a file's pages in memory. One thread's.
class PageWindow {
 public:
  explicit PageWindow(const PageFile& pages) : pages_(pages) {}

  bool holds(std::uint32_t number) const { return number - first_ < count_; }
  // How many pages one stretch has at most.
  std::uint32_t most_pages() const { return kMostBytes / pages_.page_bytes(); }
  // The page, valid until another one is asked for that the window does not hold; `following` pages behind it are read with it.
  const Byte* page(std::uint32_t number, std::uint32_t named_by, std::uint32_t following = 0) {
    pages_.check(number, named_by);
    if (!holds(number)) fill(number, following);
    return bytes_.get() + std::size_t{number - first_} * pages_.page_bytes();
  }

 private:
  // Stays in the second cache of a core beside what is made of it.
  static constexpr std::uint32_t kMostBytes = 256 << 10;
  void fill(std::uint32_t number, std::uint32_t following);

  const PageFile& pages_;
  std::unique_ptr<Byte[]> bytes_;
  std::uint32_t first_ = 0, count_ = 0, room_ = 0;  // pages
};

}  // namespace nl::parsers::sqlite_pages
