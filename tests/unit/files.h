#pragma once

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "tests/catch.h"

// What many tests need of files and texts. The tests of a room are compiled in groups, so that a helper of two files has to
// stand here or to have two names.
namespace nl::test {

// Captures of an H200, with what NVIDIA's tools say of them.
inline const std::string kLlama = NL_FIXTURES "/h200-llama/", kProbe = NL_FIXTURES "/h200-probe/";

// A folder that goes with its owner.
struct Folder {
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "nl-stage-test-XXXXXX").string();
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    path = name;
  }
  ~Folder() { std::filesystem::remove_all(path); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::filesystem::path operator/(const char* name) const { return path / name; }
  std::filesystem::path file(const char* name, const std::string& text) const {
    std::ofstream(path / name, std::ios::binary) << text;
    return path / name;
  }
  std::filesystem::path path;
};

// Empty where there is no such file.
inline std::string read_text(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(stream), {});
}

inline bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// The second-level headings of a Markdown page.
inline std::vector<std::string> headings(const std::string& text) {
  std::vector<std::string> out;
  for (std::size_t at = text.find("\n## "); at != std::string::npos; at = text.find("\n## ", at + 1))
    out.push_back(text.substr(at + 4, text.find('\n', at + 1) - at - 4));
  return out;
}

inline std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

}  // namespace nl::test
