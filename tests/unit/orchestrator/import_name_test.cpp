#include "orchestrator/import.h"

#include <vector>

#include "tests/catch.h"
#include "tests/unit/orchestrator/machine/fake_tree.h"

namespace fs = std::filesystem;
using namespace nl;
using namespace nl::orchestrator;

TEST_CASE("an import is called as its bundle, its file, the folder around it or the process, whichever says something") {
  struct Case {
    NameSources sources;
    const char* name;
  };
  const std::vector<Case> cases = {
      {{"/data/llama-8b.sqlite"}, "llama-8b"},
      {{"/data/llama 8b.json.gz"}, "llama-8b"},
      {{"/data/llama-3.1/nsys.sqlite"}, "llama-3.1"},
      {{"/data/llama/report1.nsys-rep"}, "llama"},
      {{"/data/llama/Report12.sqlite"}, "llama"},
      {{"/data/llama/nvtx-4242.nltrace", {}, "python3"}, "llama"},
      {{"/data/llama/4242.json"}, "llama"},
      {{"/data/llama/trace.json.gz"}, "llama"},
      {{"/data/llama/first-raw.csv"}, "llama"},
      {{"/data/llama/export.sqlite"}, "llama"},
      {{"/data/my run/run.sqlite"}, "my-run"},
      {{"/data/my run/run_pqtdir"}, "my-run"},
      {{"/data/llama-3.1_arwdir"}, "llama-3.1"},
      {{"/data/runner.sqlite"}, "runner"},  // no name of a tool's
      {{"/data/llama/nsys-h200.sqlite"}, "nsys-h200"},
      {{"/runs/20260101-smoke-deep/nsys/run.sqlite"}, "20260101-smoke-deep"},
      {{"/runs/20260101-smoke-deep/nsys/run.sqlite", "smoke"}, "smoke"},
      {{"/runs/20260101-smoke-deep/collector/nvtx-7.nltrace", {}, "python3"}, "20260101-smoke-deep"},
      {{"/runs/b/nsys/run.sqlite", "run"}, "run"},  // its own name
      {{"/runs/b/nsys/run.sqlite", "../a b"}, "run"},
      {{"/tmp/nvtx-4242.nltrace", {}, "python3"}, "python3"},
      {{"/tmp/nvtx-4242.nltrace"}, "run"},
      {{"/nsys.sqlite"}, "run"},
      {{"/data/.hidden/nsys.sqlite"}, "run"},
  };
  for (const auto& [sources, name] : cases) {
    CAPTURE(sources.capture, sources.recorded, sources.process);
    CHECK(import_name(sources) == name);
  }
}

TEST_CASE("the name of the bundle that a capture lies in; without one, or with one that cannot be read, none") {
  test::FakeTree tree;
  const auto recorded = [&](const std::string& run_json, const std::string& capture = "b/nsys/run.sqlite") {
    tree.write("b/run.json", run_json);
    return recorded_name(tree.root() / capture);
  };
  CHECK(recorded(R"({"summary": {"name": "no"}, "list": [{"name": "no"}], "name": "smoke", "name": "later"})") == "smoke");
  CHECK(recorded(R"({"name": "smoke", "kernels": [tr)") == "smoke");  // read no further
  CHECK(recorded(R"({"name": "smoke"})", "b/collector/nvtx-1.nltrace") == "smoke");
  CHECK(recorded(R"({"name": "smoke"})", "b/mine.sqlite") == "");  // beside a bundle's files, and none of its own
  for (const char* none : {"", "{", "[]", "\xff", R"({"name": null, "x": "no"})", R"({"name": {"name": "no"}})", R"({"name": 5})",
                           R"(["name", "no"])", R"({"run_id": "no"})"}) {
    CAPTURE(none);
    CHECK(recorded(none) == "");
  }
  CHECK(recorded_name(tree.root() / "c/nsys/run.sqlite") == "");
  fs::create_directories(tree.root() / "d/run.json");
  CHECK(recorded_name(tree.root() / "d/nsys/run.sqlite") == "");
}
