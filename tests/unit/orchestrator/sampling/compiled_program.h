#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

#include "tests/unit/files.h"

namespace nl::test {

inline constexpr const char* kOptimised = "-O2 -fomit-frame-pointer";

// Compiles a program as a user would. Empty: there is no compiler here.
inline std::filesystem::path compiled(const Folder& folder, const char* name, const std::string& source,
                                      const std::string& options = kOptimised) {
  const std::filesystem::path from = folder.file((std::string(name) + ".cpp").c_str(), source), to = folder / name;
  for (const char* compiler : {"g++", "c++", "clang++"}) {
    const std::string command =
        std::string(compiler) + " -std=c++17 " + options + " -o '" + to.string() + "' '" + from.string() + "' -pthread";
    if (std::system((command + " 2> '" + (folder / "compiler.log").string() + "'").c_str()) == 0) return to;
  }
  return {};
}

}  // namespace nl::test
