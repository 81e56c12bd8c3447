#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "tests/catch.h"

namespace nl::test {

// A file with that content, which goes away with the object.
class ScratchFile {
 public:
  explicit ScratchFile(std::string_view content) {
    std::string name = (std::filesystem::temp_directory_path() / "nl-stage-test-XXXXXX").string();
    REQUIRE(::mkdtemp(name.data()));
    folder_ = name;
    path = folder_ / "trace.json";
    write(content);
  }
  void write(std::string_view content) { std::ofstream(path, std::ios::binary) << content; }
  ~ScratchFile() { std::filesystem::remove_all(folder_); }
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;

  std::filesystem::path path;

 private:
  std::filesystem::path folder_;
};

// The text of a fixture that is packed with gzip.
inline std::string unpacked_fixture(const std::string& name) {
  ScratchFile out("");
  const std::string command = "gzip -dc '" NL_FIXTURES "/" + name + "' > '" + out.path.string() + "'";
  REQUIRE(std::system(command.c_str()) == 0);
  std::ifstream stream(out.path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

}  // namespace nl::test
