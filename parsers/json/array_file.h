#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "model/error.h"
#include "parsers/input_files.h"

namespace nl::parsers {

// The objects of one array of a JSON file, one after another, in memory that does not grow with the file:
// traces of gigabytes are ordinary. The array is the document itself or one of its members.
class JsonArrayFile {
 public:
  static constexpr std::size_t kPadding = 64;  // readable bytes behind an element, as simdjson wants them

  using Bytes = std::function<std::size_t(char* to, std::size_t size)>;  // as ByteSource::read()

  // Throws Error(kInput) where the file cannot be read or has no such array.
  JsonArrayFile(const std::filesystem::path& file, std::string member);
  // The same for other bytes than those of a file. `where` names them in errors.
  JsonArrayFile(Bytes bytes, std::string where, std::string member);

  // Steps to the next object; false at the end. An element that is not an object is passed over and counted.
  bool next();
  std::string_view element() const { return {buffer_.data() + element_, element_size_}; }
  std::size_t element_capacity() const { return element_size_ + kPadding; }

  bool cut_off() const { return cut_off_; }                    // the file ended before the array did
  std::uint64_t offset() const { return file_offset_ + at_; }  // of the next byte, in the unpacked file
  std::uint64_t size_read() const { return file_offset_ + used_; }
  std::uint64_t passed_over() const { return passed_over_; }
  // The document with the array emptied. Reads the rest of the file: ask after the last element.
  std::string document_without_array();

 private:
  bool fill();  // more bytes behind those that are there; false at the end of the file
  void find_array();
  void open_member(std::size_t at);
  // Where the value that starts at `at` ends, or npos where the buffer ends first.
  std::size_t value_end(std::size_t at) const;
  std::size_t skip_blank(std::size_t at) const;

  Bytes bytes_;
  std::string where_, member_;
  std::vector<char> buffer_;
  std::size_t used_ = 0;           // bytes of the buffer that are filled
  std::size_t at_ = 0;             // the next one to look at
  std::uint64_t file_offset_ = 0;  // of the buffer's first byte
  std::size_t element_ = 0, element_size_ = 0;
  std::string head_;  // of the document, up to the array
  bool ended_ = false, array_done_ = false, cut_off_ = false;
  std::uint64_t passed_over_ = 0;
};

inline constexpr int kEventsLookedAt = 1000;  // names of processes and threads may come first

// Whether one of the first events of the array is one of the format's own.
template <typename Reader, typename Event, typename IsOwn>
bool any_event(const FileHead& head, const char* member, IsOwn is_own) {
  try {
    JsonArrayFile file(head.path, member);
    Reader reader;
    Event event;
    for (int i = 0; i < kEventsLookedAt && file.next(); ++i)
      if (reader.read(file, event) && is_own(event)) return true;
  } catch (const Error&) {  // no JSON, or no such array
  }
  return false;
}

}  // namespace nl::parsers
