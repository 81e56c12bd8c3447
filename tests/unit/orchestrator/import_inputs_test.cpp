#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "model/error.h"
#include "orchestrator/import.h"
#include "tests/catch.h"
#include "tests/unit/files.h"

using namespace nl;
using namespace nl::orchestrator;
namespace fs = std::filesystem;
using nl::test::Folder;

namespace {

struct NoLauncher : Launcher {
  ProcessResult launch(const ProcessSpec&) override { throw Error(ErrorKind::kInternal, "nothing is to be launched", ""); }
};

// "": the files themselves were accepted, and then refused for what is in them.
std::string refusal(std::vector<fs::path> collector, std::vector<fs::path> counters, const fs::path& out) {
  ImportRequest request;
  request.collector = std::move(collector);
  request.counters = std::move(counters);
  request.out = out;
  NoLauncher launcher;
  try {
    import_captures(request, launcher);
  } catch (const Error& error) {
    if (error.kind == ErrorKind::kUsage) return error.message + " (" + error.where + ")";
  }
  CHECK_FALSE(fs::exists(out));
  return "";
}

}  // namespace

TEST_CASE("a file that is given twice is refused, by whatever name") {
  const Folder folder;
  const fs::path one = folder.file("one", "12345"), copy = folder.file("copy", "12345"), other = folder.file("other", "12346");
  const fs::path empty = folder.file("empty", ""), empty_too = folder.file("empty_too", ""), out = folder.path / "out";
  const auto text = [](const char* flag, const fs::path& a, const fs::path& b) {
    return std::string(flag) + " is given the same file twice, and its figures would count twice (" + a.string() + " and " + b.string() + ")";
  };
  CHECK(refusal({one, one}, {}, out) == text("--collector", one, one));
  CHECK(refusal({one, other, folder.path / "." / "one"}, {}, out) == text("--collector", one, folder.path / "." / "one"));
  CHECK(refusal({one}, {other, copy, one}, out) == text("--counters", copy, one));
  CHECK(refusal({one, other, empty, empty_too}, {one}, out) == "");  // a trace's file may hold counters too
}
