#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "parsers/sqlite_pages/bytes.h"

// SQLite's tables, read from the pages of the file. SQLite itself stays the way for whatever is unusual: the file is then refused, with a word why.
// What is damaged throws an Error that names the file and the page. https://www.sqlite.org/fileformat2.html says what the pages hold.
namespace nl::parsers::sqlite_pages {

enum class TextEncoding { kUtf8 = 1, kUtf16Little = 2, kUtf16Big = 3 };

// A database file. Its pages are read when they are asked for, not mapped: they take no memory behind the reader, and a file that is cut short
// meanwhile is an error, not a signal. Any number of threads may read one.
class PageFile {
 public:
  struct Opening;
  static Opening open(const std::filesystem::path& file);
  ~PageFile();
  PageFile(const PageFile&) = delete;
  PageFile& operator=(const PageFile&) = delete;

  const std::string& file() const { return file_; }
  std::uint32_t page_bytes() const { return page_bytes_; }
  std::uint32_t usable_bytes() const { return usable_bytes_; }  // of a page, without what is reserved at its end
  std::uint32_t page_count() const { return page_count_; }
  TextEncoding encoding() const { return encoding_; }
  bool has_pointer_maps() const { return has_pointer_maps_; }  // databases that may be vacuumed step by step

  // Pages are numbered from 1. `named_by`: the page that led here, for the error.
  void check(std::uint32_t number, std::uint32_t named_by) const {
    if (number - 1 >= page_count_ || number == lock_page_)
      damaged(named_by, "names page " + std::to_string(number) + ", which is not there");
  }
  // Bytes from the beginning of a page that is there, of as many pages behind it.
  void read(std::uint32_t number, std::size_t bytes, Byte* out) const { read_at(std::uint64_t{number - 1} * page_bytes_, bytes, out); }
  void read_at(std::uint64_t offset, std::size_t bytes, Byte* out) const;

  [[noreturn]] void damaged(std::uint32_t page, std::string_view what) const;

 private:
  PageFile() = default;
  std::string read_header(std::uint64_t size_bytes);

  std::string file_;
  int descriptor_ = -1;
  std::uint32_t page_bytes_ = 0, usable_bytes_ = 0, page_count_ = 0;
  std::uint32_t lock_page_ = 0;
  TextEncoding encoding_ = TextEncoding::kUtf8;
  bool has_pointer_maps_ = false;
};

// Either the file, or why SQLite has to read it.
struct PageFile::Opening {
  std::unique_ptr<PageFile> pages;
  std::string refusal;
};

}  // namespace nl::parsers::sqlite_pages
