#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace nl::orchestrator {

// A file that is built into the program, packed by zlib: tools/embed --packed makes lists of them.
struct PackedText {
  std::string_view file;  // "exit-status.md"
  std::string_view packed;
  std::size_t size;  // of the text
};

std::string unpacked(const PackedText& text);

}  // namespace nl::orchestrator
