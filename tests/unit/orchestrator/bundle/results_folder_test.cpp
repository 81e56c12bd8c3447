#include "orchestrator/bundle/bundle.h"

#include <regex>

#include "model/error.h"
#include "tests/catch.h"
#include "tests/unit/orchestrator/machine/fake_tree.h"

namespace fs = std::filesystem;
using nl::orchestrator::make_results_folder;
using nl::orchestrator::results_folder;

TEST_CASE("the folder of the results is the one that was asked for, or is named after the moment") {
  CHECK(results_folder("here", "try") == "here");
  CHECK(std::regex_match(results_folder("", "try").string(), std::regex("artifacts/try/[0-9]{8}-[0-9]{6}")));
  CHECK(std::regex_match(results_folder("", "suites", "attention").string(), std::regex("artifacts/suites/[0-9]{8}-[0-9]{6}-attention")));
}

TEST_CASE("a folder of results is made, and one with something in it is refused") {
  const nl::test::FakeTree tree;
  const fs::path folder = tree.root() / "a/b";
  make_results_folder(folder);
  CHECK(fs::is_directory(folder));
  make_results_folder(folder);  // an empty one is as good
  const fs::path file = tree.write("a/b/file", "x");
  const auto refused = [](const fs::path& path) {
    try {
      make_results_folder(path);
    } catch (const nl::Error& error) {
      return error;
    }
    FAIL("made");
    return nl::Error(nl::ErrorKind::kInternal, "");
  };
  const nl::Error full = refused(folder);
  CHECK(full.kind == nl::ErrorKind::kOutput);
  CHECK(full.message == "the folder of the results is not empty");
  CHECK(full.where == folder.string());
  CHECK(full.fix == "give a new folder with --out DIR");
  CHECK(refused(file / "below").message.starts_with("the folder of the results cannot be made: "));
}
