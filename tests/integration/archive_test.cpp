// Runs that travel from one machine's ledger to another's, by the verbs.
#include <fstream>

#include "tests/catch.h"
#include "tests/integration/harness.h"

using namespace nl::test;

namespace {

// Two machines on one disk: each has a ledger and a folder of bundles.
struct ArchiveScene : Scene {
  fs::path archive = path / "runs.nlz", there = path / "there/bundles";

  std::string import_capture() {
    const Outcome outcome = nl_stage({"import", (kFixtures / "h200-probe/probe_node.sqlite").string(), "--copy", "--name", "probe", "--out",
                                      bundle().string(), "--ledger", (path / "here.sqlite").string(), "--json"});
    INFO(outcome.err);
    REQUIRE(outcome.status == 0);
    return nlohmann::json::parse(outcome.out)["run_id"];
  }
  Outcome pack(const std::vector<std::string>& more) {
    std::vector<std::string> words = {"export", "-o", archive.string(), "--ledger", (path / "here.sqlite").string(), "--json"};
    words.insert(words.end(), more.begin(), more.end());
    return nl_stage(words);
  }
  Outcome unpack() {
    return nl_stage({"import-bundle", archive.string(), "--out", there.string(), "--ledger", (path / "there.sqlite").string(), "--json"});
  }
};

bool built_without_libarchive(const Outcome& outcome) { return outcome.says("built without libarchive"); }

}  // namespace

TEST_CASE("export and import-bundle: a run of the ledger is whole and known on the other machine") {
  ArchiveScene scene;
  const std::string run_id = scene.import_capture();
  const Outcome packed = scene.pack({"last"});
  if (built_without_libarchive(packed)) NL_SKIP("built without libarchive");
  INFO(packed.err);
  REQUIRE(packed.status == 0);
  const auto exported = nlohmann::json::parse(packed.out);
  CHECK(exported["bundles"][0]["run_id"] == run_id);
  CHECK(exported["bundles"][0]["source"] == "bundle");
  CHECK(exported["redacted"] == nlohmann::json{"environment"});
  CHECK(exported["size_bytes"] == fs::file_size(scene.archive));

  const Outcome unpacked = scene.unpack();
  INFO(unpacked.err);
  REQUIRE(unpacked.status == 0);
  const auto imported = nlohmann::json::parse(unpacked.out);
  const fs::path folder = imported["bundles"][0]["folder"].get<std::string>();
  CHECK(folder == scene.there / run_id);
  CHECK(imported["bundles"][0]["recorded"] == true);
  CHECK(scene.text(folder / "run.json") == scene.text(scene.bundle() / "run.json"));
  CHECK(scene.nl_stage({"validate", folder.string()}).status == 0);
  // What arrives is a bundle like any other: it can be read again, and exported by its name there.
  CHECK(scene.nl_stage({"import", folder.string(), "--out", (scene.path / "again").string()}).status == 0);
  CHECK(scene.nl_stage({"export", run_id, "-o", (scene.path / "back.tar.zst").string(), "--ledger", (scene.path / "there.sqlite").string()})
            .status == 0);
}

TEST_CASE("export: folders and hosts are redacted on request, and the reports with them") {
  ArchiveScene scene;
  scene.import_capture();
  const Outcome packed = scene.pack({"last", "--redact", "host,paths"});
  if (built_without_libarchive(packed)) NL_SKIP("built without libarchive");
  INFO(packed.err);
  REQUIRE(packed.status == 0);
  REQUIRE(scene.unpack().status == 0);
  for (const auto& entry : fs::recursive_directory_iterator(scene.there))
    if (entry.is_regular_file()) {
      INFO(entry.path());
      CHECK(scene.text(entry.path()).find(scene.path.string()) == std::string::npos);
      CHECK(scene.text(entry.path()).find(kFixtures.string()) == std::string::npos);
    }
}

TEST_CASE("import-bundle: a changed archive ends with 3 and leaves nothing") {
  ArchiveScene scene;
  scene.import_capture();
  const Outcome packed = scene.pack({"last"});
  if (built_without_libarchive(packed)) NL_SKIP("built without libarchive");
  REQUIRE(packed.status == 0);
  fs::resize_file(scene.archive, fs::file_size(scene.archive) / 2);
  const Outcome outcome = scene.unpack();
  CHECK(outcome.status == 3);
  CHECK(outcome.says(scene.archive.string()));
  CHECK_FALSE(fs::exists(scene.path / "there"));
  CHECK_FALSE(fs::exists(scene.path / "there.sqlite"));
  CHECK(scene.pack({"last"}).status == 8);  // the file exists
  CHECK(scene.pack({"no-such-run"}).status == 8);
  CHECK(scene.nl_stage({"export", "last", "-o", (scene.path / "x.zip").string()}).status == 2);
  CHECK(scene.nl_stage({"export", "last", "-o", (scene.path / "x.nlz").string(), "--redact", "names"}).status == 2);
  CHECK(scene.nl_stage({"import-bundle", (scene.path / "absent.nlz").string()}).status == 3);
  CHECK(scene.nl_stage({"import-bundle", scene.archive.string(), "--max-size", "lots"}).status == 2);
}
