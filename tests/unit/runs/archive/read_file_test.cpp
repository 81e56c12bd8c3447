#include "runs/archive/read_file.h"

#include <fstream>

#include "model/error.h"
#include "runs/archive/archive.h"
#include "tests/catch.h"
#include "tests/unit/files.h"
#include "tests/unit/runs/archive/crafted_archive.h"

using namespace nl;
using runs::archive_beside, runs::archived_file;
namespace fs = std::filesystem;

TEST_CASE("archive: one file is read while the archive stays packed") {
  const test::Folder folder;
  const fs::path bundle = test::make_bundle(folder.path / "one", "run-one"), archive = folder.path / "one.nlz";
  const std::string run_json = test::read_text(bundle / "run.json");
  runs::export_runs({{bundle.string()}, archive, {}, {}});
  CHECK(archived_file(archive, "run-one", "run.json", 1 << 20) == run_json);
  CHECK_FALSE(archived_file(archive, "run-one", "run.json", 10));  // larger than is asked for
  CHECK_FALSE(archived_file(archive, "run-one", "../archive.json", 1 << 20));
  CHECK_FALSE(archived_file(archive, "run-one", "none", 1 << 20));
  CHECK_FALSE(archived_file(archive, "run-other", "run.json", 1 << 20));
}

TEST_CASE("archive: that of a bundle lies beside it, under its name or another") {
  const test::Folder folder;
  const fs::path bundle = test::make_bundle(folder.path / "one", "run-one");
  CHECK(archive_beside(bundle, "run-one").empty());
  folder.file("broken.nlz", "no archive");
  runs::export_runs({{bundle.string()}, folder.path / "all.nlz", {}, {}});
  CHECK(archive_beside(bundle, "run-one") == folder.path / "all.nlz");
  runs::export_runs({{bundle.string()}, folder.path / "one.nlz", {}, {}});
  CHECK(archive_beside(bundle, "run-one") == folder.path / "one.nlz");
  CHECK(archive_beside(bundle, "run-other").empty());
  CHECK(archive_beside({}, "run-one").empty());
}

TEST_CASE("archive: a file that was changed is refused") {
  const test::Folder folder;
  const fs::path bundle = test::make_bundle(folder.path / "one", "run-one"), archive = folder.path / "one.nlz";
  runs::export_runs({{bundle.string()}, archive, {}, {}});
  std::string bytes = test::read_text(archive);
  std::ofstream(archive, std::ios::binary) << bytes.substr(0, bytes.size() / 2);
  CHECK_THROWS_AS(archived_file(archive, "run-one", "manifest.json", 1 << 20), Error);
}
