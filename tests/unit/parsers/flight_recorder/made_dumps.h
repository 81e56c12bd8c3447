#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

#include "tests/catch.h"
#include "tests/unit/parsers/scratch_file.h"

namespace nl::test {

// A scene of tests/fixtures/collectives/make_dumps.py in a folder of its own.
class MadeDumps {
 public:
  explicit MadeDumps(const std::string& scene, const std::string& flags = {}) : scratch_("") {
    folder = scratch_.path.parent_path() / "made";
    const std::string command = "python3 '" NL_FIXTURES "/collectives/make_dumps.py' '" + folder.string() + "' " + scene + " " + flags;
    REQUIRE(std::system(command.c_str()) == 0);
  }
  std::filesystem::path dump(int rank) const { return folder / ("nccl_trace_rank_" + std::to_string(rank)); }

  std::filesystem::path folder;

 private:
  ScratchFile scratch_;
};

}  // namespace nl::test
