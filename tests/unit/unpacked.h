#pragma once

#include <stdlib.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "tests/catch.h"

// A fixture that is kept packed with gzip, unpacked for as long as this lives.
struct Unpacked {
  std::filesystem::path file;
  explicit Unpacked(const std::filesystem::path& gz) {
    std::string name = (std::filesystem::temp_directory_path() / "nl-stage-test-XXXXXX").string();
    const int handle = ::mkstemp(name.data());
    REQUIRE(handle >= 0);
    file = name;
    const std::string command = "gzip -dc '" + gz.string() + "' > '" + name + "'";
    REQUIRE(std::system(command.c_str()) == 0);
  }
  ~Unpacked() { std::filesystem::remove(file); }
  Unpacked(const Unpacked&) = delete;
  Unpacked& operator=(const Unpacked&) = delete;
};
