#include <SQLiteCpp/SQLiteCpp.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "model/error.h"
#include "orchestrator/import.h"
#include "tests/catch.h"
#include "tests/unit/files.h"
#include "tests/unit/unpacked.h"

using namespace nl;
using namespace nl::orchestrator;
namespace fs = std::filesystem;
using nl::test::Folder;

namespace {

struct NoLauncher : Launcher {
  ProcessResult launch(const ProcessSpec&) override { throw Error(ErrorKind::kInternal, "nothing is to be launched", ""); }
};

// "": the files themselves were accepted, and then refused for what is in them.
std::string refusal(const decltype(ImportRequest::files)& files, const fs::path& out) {
  ImportRequest request;
  request.files = files;
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
    return std::string(flag) + " is given the same file twice, and its figures would count twice (" + a.string() + " and " + b.string() +
           ")";
  };
  CHECK(refusal({{"collector", {one, one}}}, out) == text("--collector", one, one));
  CHECK(refusal({{"collector", {one, other, folder.path / "." / "one"}}}, out) == text("--collector", one, folder.path / "." / "one"));
  CHECK(refusal({{"collector", {one}}, {"counters", {other, copy, one}}}, out) == text("--counters", copy, one));
  CHECK(refusal({{"collector", {one, other, empty, empty_too}}, {"counters", {one}}}, out) == "");  // a trace's file may hold counters too
  CHECK(refusal({{"ncu", {other, one, copy}}}, out) == text("--ncu", one, copy));
}

TEST_CASE("a report and its own export are one capture") {
  const Folder folder;
  const fs::path report = folder.file("rank0.nsys-rep", "1234"), sqlite = folder.file("rank0.sqlite", "12345");
  const fs::path other = folder.file("rank1.nsys-rep", "123456");
  CHECK(refusal({{"nsys", {report, sqlite}}}, folder.path / "out") ==
        "one capture is given twice, as a report and as its export (" + report.string() + " and " + sqlite.string() + ")");
  CHECK(refusal({{"nsys", {sqlite, other}}}, folder.path / "out") == "");
}

namespace {

// run.sqlite, run_pqtdir/ and run_arwdir/: one capture, exported three times
struct Exports : Folder {
  Exports() {
    const std::string command = "tar -xJf '" NL_FIXTURES "/h200-exports/exports.tar.xz' -C '" + path.string() + "'";
    REQUIRE(std::system(command.c_str()) == 0);
  }
};

std::vector<fs::path> found_in(const fs::path& path) {
  ImportRequest request;
  add_input(path, request);
  return request.files["nsys"];
}

Error refused_input(const fs::path& path) {
  ImportRequest request;
  try {
    add_input(path, request);
  } catch (const Error& error) {
    return error;
  }
  return {ErrorKind::kInternal, "it was taken"};
}

Run imported(const fs::path& capture, const fs::path& out) {
  ImportRequest request;
  add_input(capture, request);
  request.out = out;
  NoLauncher launcher;
  return import_captures(request, launcher).run;
}

}  // namespace

TEST_CASE("a folder of tables that nsys wrote is one capture, with or without a slash behind it") {
  const Exports exports;
  const fs::path parquet = exports / "run_pqtdir", arrow = exports / "run_arwdir";
  CHECK(found_in(parquet) == std::vector<fs::path>{parquet});
  CHECK(found_in(arrow / "") == std::vector<fs::path>{arrow});
  const Run by_sqlite = imported(exports / "run.sqlite", exports / "a"), by_parquet = imported(parquet, exports / "b"),
            by_arrow = imported(arrow, exports / "c");
  for (const Run* run : {&by_parquet, &by_arrow}) {
    CHECK(run->name == by_sqlite.name);
    REQUIRE((run->kernels && by_sqlite.kernels));
    CHECK(run->kernels->size() == by_sqlite.kernels->size());
    CHECK(run->stages.size() == by_sqlite.stages.size());
    CHECK(run->software.nsys_version == by_sqlite.software.nsys_version);
    REQUIRE(run->provenance.inputs_sha256.size() == 1);
  }
  CHECK(by_parquet.provenance.inputs_sha256.begin()->first == parquet.string());
  CHECK(by_parquet.provenance.inputs_sha256.begin()->second != by_arrow.provenance.inputs_sha256.begin()->second);
}

TEST_CASE("of a capture that was exported several times a folder gives one export") {
  const Exports exports;
  CHECK(found_in(exports.path) == std::vector<fs::path>{exports / "run.sqlite"});
  fs::remove(exports / "run.sqlite");
  exports.file("run.nsys-rep", "1234");
  CHECK(found_in(exports.path) == std::vector<fs::path>{exports / "run_pqtdir"});
  fs::remove_all(exports / "run_pqtdir");
  CHECK(found_in(exports.path) == std::vector<fs::path>{exports / "run_arwdir"});
  fs::rename(exports / "run_arwdir", exports / "rank1_arwdir");
  CHECK(found_in(exports.path) == std::vector<fs::path>{exports / "run.nsys-rep", exports / "rank1_arwdir"});
}

TEST_CASE("exports of one capture under other names are refused where they would be two ranks") {
  const Exports exports;
  fs::rename(exports / "run_pqtdir", exports / "rank1");
  const fs::path sqlite = exports / "run.sqlite", parquet = exports / "rank1", report = exports.file("run.nsys-rep", "1234");
  CHECK(refusal({{"nsys", {sqlite, parquet}}}, exports / "out") ==
        "one capture is given twice, in two exports (" + sqlite.string() + " and " + parquet.string() + ")");
  CHECK(refusal({{"nsys", {report, exports / "run_arwdir"}}}, exports / "out") ==
        "one capture is given twice, as a report and as its export (" + report.string() + " and " + (exports / "run_arwdir").string() +
            ")");
  CHECK(refusal({{"nsys", {parquet, parquet}}}, exports / "out") ==
        "--nsys is given the same file twice, and its figures would count twice (" + parquet.string() + " and " + parquet.string() + ")");
}

TEST_CASE("tables that are no export of nsys, and one table of it alone, are refused with what to do") {
  const Exports exports;
  const fs::path table = exports / "run_pqtdir" / "StringIds.parquet";
  Error error = refused_input(table);
  CHECK(error.message == "no format that nl-stage reads");
  CHECK(error.fix == "it is one table of an export of nsys; give the folder: nl-stage import " + (exports / "run_pqtdir").string());
  const Folder other;
  fs::copy_file(table, other / "users.parquet");
  error = refused_input(other.path);
  CHECK(error.message == "the folder has tables of Parquet or Arrow, and none is one of nsys, such as StringIds.parquet");
  CHECK(error.fix == "give the folder that nsys wrote: nsys export --type parquetdir --output FOLDER REPORT.nsys-rep");
}

TEST_CASE("a folder with the collector's traces of two runs is refused, with the command for each") {
  const Folder folder;
  fs::create_directory(folder.path / "both");
  for (const char* name : {"loop.nltrace", "compiled.nltrace"})
    fs::copy_file(Unpacked(fs::path(NL_FIXTURES) / "h200-auto-marked" / (std::string(name) + ".gz")).file, folder.path / "both" / name);
  ImportRequest request;
  add_input(folder.path / "both", request);
  request.out = folder.path / "out";
  NoLauncher launcher;
  try {
    import_captures(request, launcher);
    FAIL("both were imported");
  } catch (const Error& error) {
    CHECK(error.message ==
          "the traces of the collector are of 2 runs: python3.12 of 2026-11-16T11:54:18.486Z (1 file), python3.12 of "
          "2026-11-16T11:54:39.192Z (1 file)");
    CHECK(error.where == (folder.path / "both").string());
    CHECK(error.fix == "import one at a time: nl-stage import " + (folder.path / "both/loop.nltrace").string() + ", or nl-stage import " +
                           (folder.path / "both/compiled.nltrace").string());
  }
  CHECK_FALSE(fs::exists(folder.path / "out"));
}

TEST_CASE("the folder of a run that was killed is a bundle: its captures are found") {
  const Folder folder;
  for (const char* name : {"logs", "nsys"}) fs::create_directories(folder.path / "killed" / name);
  folder.file("killed/config.yaml", "run: {}\n");
  fs::copy_file(NL_FIXTURES "/h200-probe/probe_node.sqlite", folder.path / "killed/nsys/run.sqlite");
  ImportRequest request;
  add_input(folder.path / "killed", request);
  CHECK(request.all_files() == std::vector<fs::path>{folder.path / "killed/nsys/run.sqlite"});
}

TEST_CASE("counters alone are no capture, and nothing is none either") {
  const Folder folder;
  const fs::path one = folder.file("one", "12345"), out = folder.path / "out";
  CHECK(refusal({{"counters", {one}}}, out) == "counters and stacks are joined to a capture, and none is given (import)");
  CHECK(refusal({{"nsys", {}}}, out) == "there is nothing to import (import)");
}

TEST_CASE("a copy of the export in the bundle has no environment, unless it is to be kept") {
  const Folder folder;
  const fs::path sqlite = folder.path / "capture.sqlite";
  fs::copy_file(NL_FIXTURES "/h200-probe/probe_node.sqlite", sqlite);
  fs::permissions(sqlite, fs::perms::owner_write, fs::perm_options::add);
  {
    SQLite::Database capture(sqlite.string(), SQLite::OPEN_READWRITE);
    capture.exec(
        "INSERT INTO StringIds SELECT max(id) + 1, 'PATH=/bin' || char(0) || 'API_TOKEN=hunter2' || char(0) || 'HOME=/root' FROM "
        "StringIds");
  }
  REQUIRE(nl::test::has(nl::test::read_text(sqlite), "hunter2"));
  for (const bool keep : {false, true}) {
    ImportRequest request;
    request.files = {{"nsys", {sqlite}}};
    request.out = folder.path / (keep ? "kept" : "blanked");
    request.copy = true;
    request.config.artifacts.keep_env = keep;
    NoLauncher launcher;
    import_captures(request, launcher);
    const std::string copy = nl::test::read_text(request.out / "nsys/run.sqlite");
    CHECK(copy.size() > 1000);
    CHECK(nl::test::has(copy, "hunter2") == keep);
  }
}
