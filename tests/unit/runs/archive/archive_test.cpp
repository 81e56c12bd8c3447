// Runs that are exported and come back.
#include <sys/resource.h>

#include <csignal>
#include <fstream>
#include <functional>

#include "exporters/run_json/run_json.h"
#include "model/error.h"
#include "orchestrator/process/interrupts.h"
#include "runs/archive/archive.h"
#include "runs/ledger/ledger.h"
#include "tests/catch.h"
#include "tests/unit/files.h"
#include "tests/unit/runs/archive/crafted_archive.h"
#include "tests/unit/runs/ledger/ledger_places.h"

using namespace nl;
using runs::BundleSource, runs::Ledger;
using test::Folder, test::has, test::ids_of, test::ledger_run, test::make_bundle, test::paths_below, test::read_text;
namespace fs = std::filesystem;
using FileNames = std::vector<std::string>;

namespace {

struct Transfer : Folder {
  std::string here = (path / "here.sqlite").string(), there = (path / "there.sqlite").string();
  fs::path archive = path / "runs.nlz";

  runs::ExportResult pack(const FileNames& runs, const runs::Redactions& redacted = {}) const {
    return runs::export_runs({runs, archive, here, redacted});
  }
  runs::ImportBundleResult unpack(const char* out = "out") const { return runs::import_bundle({archive, path / out, there, {}}); }
};

// No file may grow beyond this, as on a disk that is full.
struct SmallFiles {
  explicit SmallFiles(rlim_t bytes) {
    REQUIRE(getrlimit(RLIMIT_FSIZE, &before) == 0);
    const rlimit small{bytes, before.rlim_max};
    REQUIRE(setrlimit(RLIMIT_FSIZE, &small) == 0);
  }
  ~SmallFiles() {
    setrlimit(RLIMIT_FSIZE, &before);
    std::signal(SIGXFSZ, handler);
  }
  void (*handler)(int) = std::signal(SIGXFSZ, SIG_IGN);
  rlimit before = {};
};

std::string refusal(const std::function<void()>& act) {
  try {
    act();
  } catch (const Error& error) {
    return error.message + " | " + error.where;
  }
  return "done";
}

}  // namespace

TEST_CASE("archive: bundles come back byte for byte, under their run ids") {
  const Transfer transfer;
  const std::string binary("\0\x01/home/me\xff", 11);
  const fs::path one =
      make_bundle(transfer / "one", "20261116-a-1", {{"report.md", "# one\n"}, {"collector/1.nltrace", binary}, {"logs/größe 1.log", ""}});
  const fs::path two = make_bundle(transfer / "two", "20261116-a-2");
  const auto result = transfer.pack({one.string(), (two / "run.json").string(), one.string() + "/"});
  CHECK(result.contents.bundles.size() == 2);
  CHECK(result.size_bytes == fs::file_size(transfer.archive));
  CHECK(paths_below(transfer.path).size() == 8);  // nothing but the bundles and the archive

  const auto imported = transfer.unpack();
  REQUIRE(imported.bundles.size() == 2);
  for (const auto& [from, to] : {std::pair{one, transfer / "out/20261116-a-1"}, {two, transfer / "out/20261116-a-2"}}) {
    REQUIRE(paths_below(from) == paths_below(to));
    for (const std::string& file : paths_below(from)) CHECK(read_text(from / file) == read_text(to / file));
  }
  Ledger ledger = Ledger::open(transfer.there);
  CHECK(ids_of(ledger.query({})).size() == 2);
  CHECK(ledger.run_json("20261116-a-1") == read_text(one / "run.json"));
  CHECK(ledger.resolve("20261116-a-1").bundle == transfer / "out/20261116-a-1");
}

TEST_CASE("archive: names of the ledger are exported, from run.json alone where the bundle is gone") {
  const Transfer transfer;
  const fs::path kept = make_bundle(transfer / "kept", "run-kept"), gone = make_bundle(transfer / "gone", "run-gone"),
                 replaced = make_bundle(transfer / "replaced", "run-replaced");
  Ledger ledger = Ledger::open(transfer.here);
  for (const fs::path& bundle : {kept, gone, replaced}) {
    const std::string text = read_text(bundle / "run.json");
    ledger.record(exporters::run_from_json(text), text, bundle);
  }
  const std::string text = read_text(gone / "run.json");
  fs::remove_all(gone);
  fs::remove_all(replaced);
  make_bundle(replaced, "run-other");
  ledger.add_tag("run-kept", "best");

  const auto result = transfer.pack({"tag:best", "run-g", "run-replaced"});
  REQUIRE(result.contents.bundles.size() == 3);
  CHECK(result.contents.bundles[0].source == BundleSource::kBundle);
  CHECK(result.contents.bundles[1].source == BundleSource::kLedger);
  CHECK(result.contents.bundles[2].source == BundleSource::kLedger);
  transfer.unpack();
  CHECK(paths_below(transfer / "out/run-gone") == FileNames{"manifest.json", "run.json"});
  CHECK(read_text(transfer / "out/run-gone/run.json") == text);
  CHECK(has(refusal([&] { transfer.pack({"no-such-run"}); }), "the file exists"));
}

TEST_CASE("archive: what cannot be exported leaves no archive") {
  const Transfer transfer;
  const fs::path bundle = make_bundle(transfer / "bundle", "run-1", {{"report.md", "# one\n"}});
  const fs::path copy = make_bundle(transfer / "copy", "run-1");
  const auto refused = [&](const FileNames& runs) {
    const std::string words = refusal([&] { transfer.pack(runs); });
    CHECK_FALSE(fs::exists(transfer.archive));
    for (const std::string& path : paths_below(transfer.path)) CHECK_FALSE(has(path, ".export"));
    return words;
  };
  CHECK(has(refused({"no-such-run"}), "there"));
  CHECK(has(refused({bundle.string(), copy.string()}), "two bundles are of the run run-1"));
  std::ofstream(bundle / "report.md") << "# two\n";
  CHECK(has(refused({bundle.string()}), "changed after its manifest was written | " + (bundle / "report.md").string()));
  fs::remove(bundle / "report.md");
  CHECK(has(refused({bundle.string()}), "half a bundle: a file of its manifest is missing | " + (bundle / "report.md").string()));
  fs::remove(bundle / "manifest.json");
  CHECK(has(refused({bundle.string()}), "not finished"));
  std::ofstream(bundle / "run.json") << "{";
  CHECK(refused({bundle.string()}) != "done");
  CHECK(has(refusal([&] { runs::export_runs({{copy.string()}, transfer / "runs.zip", "", {}}); }), "NAME.nlz or NAME.tar.zst"));
  CHECK(has(refusal([&] { runs::export_runs({{copy.string()}, transfer / ".nlz", "", {}}); }), "NAME.nlz or NAME.tar.zst"));
  CHECK(has(refusal([&] { runs::export_runs({{"last"}, transfer.archive, "", {}}); }), "the ledger is off"));
}

TEST_CASE("archive: a file that was there is never overwritten") {
  const Transfer transfer;
  const fs::path bundle = make_bundle(transfer / "bundle", "run-1");
  transfer.file("runs.nlz", "precious");
  CHECK(has(refusal([&] { transfer.pack({bundle.string()}); }), "the file exists"));
  CHECK(read_text(transfer.archive) == "precious");
}

TEST_CASE("archive: imported again, a run is replaced only by the same one") {
  const Transfer transfer;
  transfer.pack({make_bundle(transfer / "bundle", "run-1", {{"report.md", "# one\n"}}).string()});
  CHECK(transfer.unpack().bundles[0].recorded);
  const auto again = transfer.unpack();
  CHECK(again.bundles[0].was_there);
  CHECK_FALSE(again.bundles[0].recorded);  // the ledger knows it, and its bundle is there

  transfer.unpack("elsewhere");
  Ledger ledger = Ledger::open(transfer.there);
  CHECK(ledger.resolve("run-1").bundle == transfer / "out/run-1");
  fs::remove_all(transfer / "out");
  CHECK(transfer.unpack("elsewhere").bundles[0].recorded);  // the bundle that it knew is gone
  CHECK(ledger.resolve("run-1").bundle == transfer / "elsewhere/run-1");

  Run changed = ledger_run("run-1", "2026-11-16T00:00:00Z", 2000);
  ledger.record(changed, exporters::run_to_json(changed), "");
  CHECK(has(refusal([&] { transfer.unpack("third"); }), "another version of the run run-1"));
  CHECK_FALSE(fs::exists(transfer / "third"));
  CHECK(ledger.run_json("run-1") == exporters::run_to_json(changed));
}

TEST_CASE("archive: a bundle that stands where another one should go is not touched") {
  const Transfer transfer;
  transfer.pack({make_bundle(transfer / "a", "run-a").string(), make_bundle(transfer / "b", "run-b").string()});
  make_bundle(transfer / "out/run-b", "run-b", {{"notes.md", "mine"}});
  CHECK(has(refusal([&] { transfer.unpack(); }), "another bundle of this name is there already | " + (transfer / "out/run-b").string()));
  CHECK(paths_below(transfer / "out") == FileNames{"run-b/manifest.json", "run-b/notes.md", "run-b/run.json"});
  CHECK_FALSE(fs::exists(transfer.there));
}

TEST_CASE("archive: a ledger that cannot be written takes the bundles back") {
  const Transfer transfer;
  transfer.pack({make_bundle(transfer / "a", "run-a").string()});
  fs::create_directories(transfer / "there.sqlite");  // a folder in its place
  CHECK(refusal([&] { transfer.unpack(); }) != "done");
  CHECK_FALSE(fs::exists(transfer / "out"));
}

TEST_CASE("archive: an interrupt leaves nothing behind") {
  const Transfer transfer;
  const fs::path bundle = make_bundle(transfer / "bundle", "run-1");
  transfer.pack({bundle.string()});
  const orchestrator::Interrupts interrupts;
  REQUIRE(raise(SIGTERM) == 0);
  CHECK(has(refusal([&] { transfer.unpack(); }), "interrupted"));
  CHECK_FALSE(fs::exists(transfer / "out"));
  fs::remove(transfer.archive);
  CHECK(has(refusal([&] { transfer.pack({bundle.string()}); }), "interrupted"));
  CHECK(paths_below(transfer.path) == FileNames{"bundle/manifest.json", "bundle/run.json"});
}

TEST_CASE("archive: a full disk leaves nothing behind") {
  const Transfer transfer;
  std::string noise;  // that cannot be packed
  for (unsigned i = 0, state = 1; i < 300'000; ++i) noise += static_cast<char>((state = state * 1664525 + 1013904223) >> 24);
  const fs::path bundle = make_bundle(transfer / "bundle", "run-1", {{"noise.bin", noise}});
  const FileNames before = paths_below(transfer.path);
  {
    const SmallFiles limit(100'000);
    CHECK(has(refusal([&] { transfer.pack({bundle.string()}); }), "cannot write: File too large"));
  }
  CHECK(paths_below(transfer.path) == before);
  transfer.pack({bundle.string()});
  {
    const SmallFiles limit(100'000);
    CHECK(has(refusal([&] { transfer.unpack(); }), "cannot write: File too large"));
  }
  CHECK_FALSE(fs::exists(transfer / "out"));
  CHECK_FALSE(fs::exists(transfer.there));
}

TEST_CASE("archive: links of a bundle are left out, and said") {
  const Transfer transfer;
  const fs::path bundle = make_bundle(transfer / "bundle", "run-1");
  fs::create_symlink("/etc/passwd", bundle / "passwd");
  const auto result = transfer.pack({bundle.string()});
  REQUIRE(result.contents.bundles[0].left_out.size() == 1);
  CHECK(result.contents.bundles[0].left_out[0].path == "passwd");
  CHECK(result.contents.bundles[0].left_out[0].reason == runs::LeftOutReason::kLink);
  transfer.unpack();
  CHECK(paths_below(transfer / "out/run-1") == FileNames{"manifest.json", "run.json"});
}
