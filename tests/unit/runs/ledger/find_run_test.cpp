#include "runs/ledger/find_run.h"

#include "exporters/run_json/run_json.h"
#include "model/error.h"
#include "tests/catch.h"
#include "tests/unit/runs/ledger/ledger_places.h"

// What RUN means: paths before names of the ledger, but for those that are the ledger's alone.
using namespace nl;
using namespace nl::runs;
namespace fs = std::filesystem;

namespace {

// A ledger with two runs, the older one with its bundle, and the folder that the test stands in.
struct RunsHere {
  test::Folder folder;
  std::string ledger = (folder.path / "ledger.sqlite").string();
  fs::path before = fs::current_path();

  RunsHere() {
    Ledger opened = Ledger::open(ledger);
    record(opened, "20261116-100000-llama-deep-0a", "llama", "2026-11-16T10:00:00Z", bundle("older", "20261116-100000-llama-deep-0a"));
    record(opened, "20261117-100000-llama-deep-0b", "llama", "2026-11-17T10:00:00Z", folder.path / "gone");
    opened.add_tag("20261116-100000-llama-deep-0a", "baseline");
    fs::current_path(folder.path);
  }
  ~RunsHere() { fs::current_path(before); }
  RunsHere(const RunsHere&) = delete;
  RunsHere& operator=(const RunsHere&) = delete;

  static Run named(const std::string& run_id) {
    Run run = test::ledger_run(run_id, "2026-11-16T10:00:00Z");
    run.name = "llama";
    return run;
  }
  fs::path bundle(const char* name, const std::string& run_id) const {
    fs::create_directories(folder.path / name);
    std::ofstream(folder.path / name / "run.json") << exporters::run_to_json(named(run_id));
    return folder.path / name;
  }
  static void record(Ledger& opened, const std::string& run_id, const std::string& name, const std::string& at, const fs::path& bundle) {
    Run run = test::ledger_run(run_id, at);
    run.name = name;
    opened.record(run, exporters::run_to_json(run), bundle);
  }
  FoundRun find(const std::string& name) const { return find_run(name, ledger); }
  std::string id_of(const std::string& name) const { return named_run(name, ledger).run_id; }
};

Error refusal_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error;
  }
  FAIL("it was not refused");
  throw;
}

}  // namespace

TEST_CASE("RUN: an id, the beginning of one, a name, a tag, and the newest ones") {
  const RunsHere here;
  const std::string older = "20261116-100000-llama-deep-0a", newer = "20261117-100000-llama-deep-0b";
  CHECK(here.id_of(older) == older);
  CHECK(here.id_of("20261116") == older);
  CHECK(here.id_of("llama") == newer);
  CHECK(here.id_of("last") == newer);
  CHECK(here.id_of("last~1") == older);
  CHECK(here.id_of("tag:baseline") == older);
  CHECK(here.find("last").place == RunPlace::kLedger);
  CHECK(here.find("last").entry->run_id == newer);
}

TEST_CASE("RUN: the folder of a bundle and its run.json, with and without a ledger") {
  const RunsHere here;
  for (const char* name : {"older", "older/run.json", "./older"}) {
    INFO(name);
    CHECK(here.id_of(name) == "20261116-100000-llama-deep-0a");
    CHECK(named_run(name, "off").run_id == "20261116-100000-llama-deep-0a");
  }
  CHECK(here.find("older").place == RunPlace::kBundle);
  CHECK(here.find("older/run.json").place == RunPlace::kRunJson);
  here.folder.file("other.json", exporters::run_to_json(RunsHere::named("elsewhere")));
  CHECK(here.id_of("other.json") == "elsewhere");
}

TEST_CASE("RUN: a path goes before a name, a folder without a bundle after it, and the ledger's own words before all") {
  const RunsHere here;
  here.bundle("llama", "of-the-folder");
  CHECK(here.id_of("llama") == "of-the-folder");
  fs::create_directories(here.folder.path / "20261117");
  CHECK(here.id_of("20261117") == "20261117-100000-llama-deep-0b");
  here.bundle("last", "of-the-folder");
  CHECK(here.id_of("last") == "20261117-100000-llama-deep-0b");
  CHECK(here.id_of("./last") == "of-the-folder");
}

TEST_CASE("RUN: a capture is told from a run.json, and said to be none") {
  const RunsHere here;
  here.folder.file("run.sqlite", "SQLite format 3");
  here.folder.file("kineto.json", R"({"schemaVersion": 1, "traceEvents": []})");
  fs::create_directories(here.folder.path / "captures");
  for (const char* name : {"run.sqlite", "kineto.json", "captures"}) {
    INFO(name);
    CHECK(here.find(name).place == RunPlace::kCapture);
    CHECK(place_of(name, here.ledger) == name);
    const Error error = refusal_of([&] { here.id_of(name); });
    CHECK(error.kind == ErrorKind::kInput);
    CHECK(test::has(error.fix, std::string("nl-stage import ") + name));
  }
  const std::string padding(200'000, ' ');
  here.folder.file("late.json", "{" + padding + "\"schema_version\": \"3.7.0\"}");  // sorted by another program
  CHECK(here.find("late.json").place == RunPlace::kRunJson);
}

TEST_CASE("RUN: what is nothing of that says so, once") {
  const RunsHere here;
  const Error error = refusal_of([&] { here.find("nosuch"); });
  CHECK(error.kind == ErrorKind::kInput);
  CHECK(error.where == "nosuch");
  CHECK(test::has(error.message, "neither a file nor a run of the ledger"));
  CHECK(test::has(refusal_of([] { find_run("nosuch", "off"); }).message, "the ledger is off"));
  CHECK(test::has(refusal_of([] { find_run("", "off"); }).message, "the ledger is off"));
  CHECK(test::has(refusal_of([&] { here.find("2026111"); }).message, "begins the ids of several runs"));
  CHECK(refusal_of([&] { find_run("last~x", here.ledger); }).kind == ErrorKind::kInput);
}

TEST_CASE("RUN: a bundle that is gone is still read from the ledger, but has no place") {
  const RunsHere here;
  CHECK(here.id_of("last") == "20261117-100000-llama-deep-0b");
  const Error error = refusal_of([&] { place_of("last", here.ledger); });
  CHECK(error.message == "the run's bundle is not there any more");
  CHECK(test::has(error.fix, "nl-stage show last --run-json"));
  CHECK(place_of("last~1", here.ledger) == here.folder.path / "older");
}

TEST_CASE("RUN: tag and note find the record of a bundle by its run_id") {
  const RunsHere here;
  Ledger ledger = Ledger::open(here.ledger);
  CHECK(recorded_entry("older", ledger).run_id == "20261116-100000-llama-deep-0a");
  CHECK(recorded_entry("older/run.json", ledger).run_id == "20261116-100000-llama-deep-0a");
  CHECK(recorded_entry("last", ledger).run_id == "20261117-100000-llama-deep-0b");
  here.bundle("stranger", "20261118-000000-stranger");
  const Error error = refusal_of([&] { recorded_entry("stranger", ledger); });
  CHECK(error.message == "the ledger has no record of 20261118-000000-stranger");
  CHECK(error.fix == "`nl-stage record stranger` records it");
  here.bundle("prefix", "20261116");  // begins another id: not that run
  CHECK_THROWS_AS(recorded_entry("prefix", ledger), Error);
}
