#include "runs/fingerprint/fingerprint.h"

#include "exporters/run_json/run_json.h"
#include "runs/ledger/ledger.h"
#include "tests/catch.h"
#include "tests/unit/files.h"

// The runs of a ledger that are most like one.
using nl::Run;
using nl::runs::Ledger, nl::runs::NearestRuns, nl::runs::nearest_runs;
namespace database = nl::runs::database;

namespace {

const std::string kSearchedRun = NL_FIXTURES "/golden/h200-llama/run.json";

struct SearchScene : nl::test::Folder {
  std::string location() const { return (path / "ledger.sqlite").string(); }
  Ledger ledger() const { return Ledger::open(location()); }

  void record(const std::string& fixture, const char* id, void (*change)(Run&) = [](Run&) {}) const {
    Run run = nl::exporters::run_from_json(nl::test::read_text(std::string(NL_FIXTURES "/golden/") + fixture + "/run.json"));
    run.run_id = id;
    change(run);
    ledger().record(run, nl::exporters::run_to_json(run), {});
  }
  NearestRuns search(std::size_t count = 10) const { return nearest_runs({kSearchedRun, "", {}, location()}, count); }
  std::int64_t kept() const {
    std::int64_t rows = 0;
    ledger().connection().select("SELECT count(*) FROM fingerprints", {}, [&](const database::Row& row) { rows = row.integer(0); });
    return rows;
  }
};

void two_kernels(Run& run) { run.kernels->resize(2); }

}  // namespace

TEST_CASE("fingerprint search: the most alike first, runs without kernels counted, the run itself left out") {
  const SearchScene scene;
  scene.record("h200-llava", "cousin");
  scene.record("h200-llama", "twin");
  scene.record("h200-llama", "golden");  // the id of the run that is searched for
  scene.record("h200-llama", "part", two_kernels);
  scene.record("h200-llama", "empty", [](Run& run) { run.kernels.reset(); });
  const NearestRuns found = scene.search();
  REQUIRE(found.runs.size() == 3);
  CHECK(found.runs[0].run_id == "twin");
  CHECK(found.runs[0].similarity == 1);
  CHECK(found.runs[0].hardware == "NVIDIA H200");
  CHECK(found.runs[1].similarity < 1);
  CHECK(found.runs[1].similarity >= found.runs[2].similarity);
  CHECK(found.searched == 3);
  CHECK(found.without == 1);
  CHECK(scene.search(1).runs.size() == 1);
}

TEST_CASE("fingerprint search: fingerprints are kept, give the same answer, and are made again where they are damaged") {
  const SearchScene scene;
  scene.record("h200-llava", "cousin");
  scene.record("h200-llama", "twin");
  const double first = scene.search().runs.at(1).similarity;
  CHECK(scene.kept() == 2);
  CHECK(scene.search().runs.at(1).similarity == first);
  Ledger ledger = scene.ledger();
  ledger.connection().run("UPDATE fingerprints SET items = ?", {database::Bytes{"nonsense"}});
  CHECK(scene.search().runs.at(1).similarity == first);
  CHECK(scene.kept() == 2);
}

TEST_CASE("fingerprint search: a run that is recorded again has its new fingerprint") {
  const SearchScene scene;
  scene.record("h200-llama", "twin", two_kernels);
  CHECK(scene.search().runs.at(0).similarity < 1);
  scene.record("h200-llama", "twin");
  CHECK(scene.search().runs.at(0).similarity == 1);
}
