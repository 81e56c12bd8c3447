#include "servers/mcp/run_resources.h"

#include <nlohmann/json.hpp>

#include "exporters/run_json/run_json.h"
#include "model/error.h"
#include "runs/ledger/ledger.h"
#include "tests/catch.h"
#include "tests/unit/exporters/sample_run.h"
#include "tests/unit/files.h"

namespace {

namespace fs = std::filesystem;
using nl::servers::mcp::RunResources;
using nlohmann::json;

// A ledger with one run, whose bundle lies below the root.
struct RecordedRun {
  nl::test::Folder folder;
  std::string ledger = folder / "ledger.sqlite", run_id;
  RunResources resources{ledger, folder.path};

  RecordedRun() {
    const nl::Run run = nl::test::full_run();
    run_id = run.run_id;
    fs::create_directories(folder / "bundle one");
    const std::string text = nl::exporters::run_to_json(run);
    folder.file("bundle one/run.json", text);
    folder.file("bundle one/report.md", "# Report\n");
    folder.file("bundle one/config.yaml", "secret: yes\n");
    nl::runs::Ledger::open(ledger).record(run, text, folder / "bundle one");
  }
};

}  // namespace

TEST_CASE("servers mcp resources: the files of a recorded run, by any name that the ledger knows") {
  RecordedRun scene;
  const auto listed = scene.resources.list(0, 10);
  REQUIRE(listed.size() == 2);
  CHECK(listed[0].uri == "nl-stage://run/" + scene.run_id + "/report.md");
  CHECK(scene.resources.list(1, 10).size() == 1);
  CHECK(scene.resources.list(2, 10).empty());
  CHECK(scene.resources.read(listed[0].uri)->text == "# Report\n");
  const json run = json::parse(scene.resources.read("nl-stage://run/last/run.json")->text);
  CHECK(run["run_id"] == scene.run_id);
  CHECK(json::parse(scene.resources.read("nl-stage://run/last/findings")->text) == run["findings"]);
  CHECK(json::parse(scene.resources.read("nl-stage://run/last/run.json#/stages/0")->text) == run["stages"][0]);
}

TEST_CASE("servers mcp resources: run.json is there when the bundle is gone") {
  RecordedRun scene;
  fs::remove_all(scene.folder / "bundle one");
  CHECK(scene.resources.read("nl-stage://run/last/run.json"));
  CHECK_FALSE(scene.resources.read("nl-stage://run/last/report.md"));
}

TEST_CASE("servers mcp resources: a bundle below the root, and nothing outside") {
  RecordedRun scene;
  CHECK(scene.resources.read("nl-stage://bundle/bundle%20one/report.md")->text == "# Report\n");
  for (const char* none : {"nl-stage://bundle/bundle%20one/config.yaml", "nl-stage://bundle/none/run.json", "nl-stage://bundle/run.json",
                           "nl-stage://run/last", "nl-stage://run/last/", "nl-stage://run/last/../bundle%20one/config.yaml",
                           "file:///etc/passwd", "", "nl-stage://run/last/run.json#/none", "nl-stage://run/last/run.json#none"})
    CHECK_FALSE(scene.resources.read(none));
  for (const char* outside :
       {"nl-stage://bundle/../../etc/run.json", "nl-stage://bundle/%2e%2e/run.json", "nl-stage://bundle//etc/run.json"})
    CHECK_THROWS_AS(scene.resources.read(outside), nl::Error);
  CHECK_THROWS_AS(scene.resources.read("nl-stage://run/nobody/run.json"), nl::Error);
}

TEST_CASE("servers mcp resources: without a ledger there are none of runs") {
  const nl::test::Folder folder;
  RunResources none(folder / "none.sqlite", folder.path), off("off", folder.path);
  CHECK(none.list(0, 10).empty());
  CHECK(off.list(0, 10).empty());
  CHECK_FALSE(off.read("nl-stage://run/last/run.json"));
}
