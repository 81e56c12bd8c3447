#include "runs/ledger/ledger.h"

#include "exporters/run_json/run_json.h"
#include "model/error.h"
#include "runs/ledger/bundles.h"
#include "tests/catch.h"
#include "tests/unit/runs/ledger/ledger_places.h"

using namespace nl;
using namespace nl::runs;
using test::ids_of, test::ledger_run, test::LedgerPlace;
using Ids = std::vector<std::string>;

namespace {

std::string refused_run(Ledger& ledger, const std::string& name) {
  try {
    ledger.resolve(name);
  } catch (const Error& error) {
    CHECK(error.kind == ErrorKind::kInput);
    return error.message + " | " + error.where;
  }
  return "found";
}

}  // namespace

TEST_CASE("ledger: a run comes back as it was recorded") {
  const LedgerPlace place(GENERATE(from_range(test::ledger_databases())));
  const std::string text = test::read_text(NL_FIXTURES "/golden/every_value/run.json");
  const Run run = exporters::run_from_json(text);
  Ledger ledger = place.open();
  ledger.record(run, text, "/data/bundle");

  const LedgerEntry entry = ledger.resolve(run.run_id);
  CHECK(entry.run_id == "run_id 101");
  CHECK(entry.created_at == "2026-01-02T03:04:05Z");
  CHECK(entry.name == "name 102");
  CHECK(entry.mode == "import");
  CHECK(entry.status == "partial");
  CHECK(entry.model == "name 130");
  CHECK(entry.precision == "precision 1701");
  CHECK(entry.backend == "backend 2001");
  CHECK(entry.gpu == run.hardware.gpus.at(0).name);
  CHECK(entry.gpu_count == 1);
  CHECK(entry.revision == "revision 1703");
  CHECK(entry.modified == true);
  CHECK(entry.bundle == "/data/bundle");
  CHECK(ledger.run_json(run.run_id) == text);
  CHECK(ledger.metrics(run.run_id).at("tpot_median_ms") == 254.5e-6);
  CHECK(ledger.metrics(run.run_id).at("tokens_per_s") == 260.5);
}

TEST_CASE("ledger: a run that is recorded again is replaced, and keeps its tags and notes") {
  const LedgerPlace place(GENERATE(from_range(test::ledger_databases())));
  Ledger ledger = place.open();
  Run run = ledger_run("one", "2026-11-16T10:00:00Z", 1000);
  ledger.record(run, "{\"first\": 1}", "/a");
  ledger.add_tag("one", "baseline");
  ledger.add_note("one", "the fan was broken");
  run.stages[0].wall.median_ns = 2000;
  ledger.record(run, "{\"second\": 2}", "/b");

  CHECK(ids_of(ledger.query({})) == Ids{"one"});
  CHECK(ledger.run_json("one") == "{\"second\": 2}");
  CHECK(ledger.metrics("one").at("stage.decode_step.median_ms") == 0.002);
  CHECK(ledger.resolve("one").bundle == "/b");
  CHECK(ledger.resolve("one").tags == Ids{"baseline"});
  REQUIRE(ledger.notes("one").size() == 1);
  CHECK(ledger.notes("one")[0].text == "the fan was broken");
  CHECK(ids_of(ledger.query({.words = "fan baseline"})) == Ids{"one"});
}

TEST_CASE("ledger: runs are named by id, by its beginning, by name, by tag and by age") {
  const LedgerPlace place(GENERATE(from_range(test::ledger_databases())));
  Ledger ledger = place.open();
  Run nightly = ledger_run("20261114-aa", "2026-11-14T10:00:00Z");
  nightly.name = "nightly";
  ledger.record(nightly, "{}", "");
  nightly.run_id = "20261115-bb";
  nightly.created_at = "2026-11-15T10:00:00Z";
  ledger.record(nightly, "{}", "");
  ledger.record(ledger_run("20261116-cc", "2026-11-16T10:00:00.750Z"), "{}", "");
  ledger.record(ledger_run("20261116-dd", "2026-11-16T10:00:00Z"), "{}", "");  // the same second, recorded later
  ledger.add_tag("20261114-aa", "good");

  CHECK(ledger.resolve("20261115-bb").run_id == "20261115-bb");
  CHECK(ledger.resolve("20261114").run_id == "20261114-aa");
  CHECK(ledger.resolve("nightly").run_id == "20261115-bb");
  CHECK(ledger.resolve("tag:good").run_id == "20261114-aa");
  CHECK(ledger.resolve("last").run_id == "20261116-dd");
  CHECK(ledger.resolve("last~1").run_id == "20261116-cc");
  CHECK(ledger.resolve("last~3").run_id == "20261114-aa");

  CHECK(refused_run(ledger, "20261116") == "'20261116' begins the ids of several runs | 20261116-dd, 20261116-cc");
  CHECK(refused_run(ledger, "last~4").starts_with("the ledger has no run 'last~4'"));
  CHECK(refused_run(ledger, "tag:bad").starts_with("the ledger has no run"));
  CHECK(refused_run(ledger, "").starts_with("the ledger has no run"));
  CHECK(refused_run(ledger, "2026%").starts_with("the ledger has no run"));
  CHECK_THROWS_AS(ledger.resolve("last~x"), Error);
}

TEST_CASE("ledger: retention keeps the newest runs, and tagged ones beside them") {
  const LedgerPlace place(GENERATE(from_range(test::ledger_databases())));
  Ledger ledger = place.open();
  for (const char* day : {"11", "12", "13", "14", "15"})
    ledger.record(ledger_run(day, "2026-11-" + std::string(day) + "T00:00:00Z"), "{}", "");
  ledger.add_tag("11", "release");
  ledger.add_tag("15", "nightly");

  CHECK(ledger.apply({.keep_last = 0}) == 0);
  CHECK(ids_of(ledger.beyond({.keep_last = 1})) == Ids{"12", "13"});
  CHECK(ids_of(ledger.beyond({.keep_last = 1, .keep_tagged = false})) == Ids{"11", "12", "13", "14"});
  CHECK(ledger.apply({.keep_last = 2}) == 1);
  CHECK(ids_of(ledger.query({})) == Ids{"15", "14", "13", "11"});
  CHECK(ledger.apply({.keep_last = 2}) == 0);
  CHECK(ids_of(ledger.query({.words = "12"})).empty());  // its words went with it
}

TEST_CASE("ledger: what is removed leaves nothing behind, and what is not there is an error") {
  const LedgerPlace place(GENERATE(from_range(test::ledger_databases())));
  Ledger ledger = place.open();
  ledger.record(ledger_run("one", "2026-11-16T10:00:00Z"), "{}", "");
  ledger.add_tag("one", "x");
  ledger.add_note("one", "y");
  ledger.remove("one");
  for (const char* table : {"runs", "metrics", "tags", "notes", "documents", "words"}) {
    INFO(table);
    std::int64_t rows = -1;
    ledger.connection().select(std::string("SELECT count(*) FROM ") + table, {}, [&](const database::Row& row) { rows = row.integer(0); });
    CHECK(rows == 0);
  }
  CHECK_THROWS_AS(ledger.remove("one"), Error);
  CHECK_THROWS_AS(ledger.add_tag("one", "x"), Error);
  CHECK_THROWS_AS(ledger.add_note("one", "x"), Error);
  CHECK_THROWS_AS(ledger.run_json("one"), Error);
}

TEST_CASE("ledger: a tag is one word") {
  const LedgerPlace place("sqlite");
  Ledger ledger = place.open();
  ledger.record(ledger_run("one", "2026-11-16T10:00:00Z"), "{}", "");
  for (const char* odd : {"", "two words", "a,b", "tag:x", "x~1"}) CHECK_THROWS_AS(ledger.add_tag("one", odd), Error);
  ledger.add_tag("one", "v1.2-rc_3");
  ledger.add_tag("one", "v1.2-rc_3");
  CHECK(ledger.resolve("one").tags == Ids{"v1.2-rc_3"});
  ledger.remove_tag("one", "v1.2-rc_3");
  CHECK(ledger.resolve("one").tags.empty());
  CHECK(ids_of(ledger.query({.words = "rc"})).empty());
}

TEST_CASE("ledger: a bundle is recorded from its run.json, and half a bundle is refused with the file") {
  const LedgerPlace place("sqlite");
  Ledger ledger = place.open();
  const std::filesystem::path bundle = place.folder / "bundle";
  std::filesystem::create_directories(bundle);
  CHECK_THROWS_AS(record_bundle(ledger, bundle), Error);  // a run that was killed before it wrote run.json

  const std::string text = test::read_text(NL_FIXTURES "/golden/every_value/run.json");
  std::ofstream(bundle / "run.json") << text.substr(0, text.size() / 2);
  try {
    record_bundle(ledger, bundle);
    FAIL("half a run.json was recorded");
  } catch (const Error& error) {
    CHECK(error.kind == ErrorKind::kInput);
    CHECK(error.where.starts_with((bundle / "run.json").string()));
  }
  CHECK(ledger.query({}).empty());

  std::ofstream(bundle / "run.json") << text;
  CHECK(record_bundle(ledger, bundle).run_id == "run_id 101");
  CHECK(ledger.resolve("last").bundle == bundle);
}

TEST_CASE("ledger: rounds of a trial are left out unless they are asked for, and last is none of them") {
  const LedgerPlace place(GENERATE(from_range(test::ledger_databases())));
  Ledger ledger = place.open();
  Run own = ledger_run("own", "2026-11-16T10:00:00Z");
  own.workload.command = {"./llm", "--fast"};
  ledger.record(own, "{}", "");
  ledger.record(ledger_run("round", "2026-11-16T11:00:00Z"), "{}", "", "try");
  CHECK(ids_of(ledger.query({})) == std::vector<std::string>{"own"});
  const auto all = ledger.query({.parts = true});
  CHECK(ids_of(all) == std::vector<std::string>{"round", "own"});
  CHECK(all[0].part_of == "try");
  CHECK(ledger.resolve("last").run_id == "own");
  CHECK(ledger.resolve("round").run_id == "round");
  std::size_t values = 0;
  ledger.each_value({}, "stage.decode_step.median_ms", [&](const LedgerValue& value) {
    ++values;
    CHECK(value.command == "./llm --fast");
  });
  CHECK(values == 1);
}

TEST_CASE("ledger: rounds take no place of a run that is kept, and go when they are older than all of those") {
  const LedgerPlace place(GENERATE(from_range(test::ledger_databases())));
  Ledger ledger = place.open();
  ledger.record(ledger_run("old-round", "2026-11-16T09:00:00Z"), "{}", "", "try");
  ledger.record(ledger_run("first", "2026-11-16T10:00:00Z"), "{}", "");
  ledger.record(ledger_run("second", "2026-11-16T11:00:00Z"), "{}", "");
  for (const char* round : {"r1", "r2", "r3"}) ledger.record(ledger_run(round, "2026-11-16T12:00:00Z"), "{}", "", "try");
  CHECK(ledger.beyond({.keep_last = 3}).empty());
  CHECK(ids_of(ledger.beyond({.keep_last = 2})) == Ids{"old-round"});
  CHECK(ids_of(ledger.beyond({.keep_last = 1})) == Ids{"old-round", "first"});
  ledger.add_tag("old-round", "x");
  ledger.add_tag("second", "x");
  CHECK(ledger.beyond({.keep_last = 1}).empty());
  CHECK(ids_of(ledger.beyond({.keep_last = 1, .keep_tagged = false})) == Ids{"old-round", "first"});
}

TEST_CASE("ledger: a round that is recorded again stays a round") {
  const LedgerPlace place(GENERATE(from_range(test::ledger_databases())));
  Ledger ledger = place.open();
  ledger.record(ledger_run("round", "2026-11-16T11:00:00Z"), "{}", "", "try");
  ledger.record(ledger_run("round", "2026-11-16T11:00:00Z"), "{}", "");
  CHECK(ledger.resolve("round").part_of == "try");
  ledger.record(ledger_run("round", "2026-11-16T11:00:00Z"), "{}", "", "bisect");
  CHECK(ledger.resolve("round").part_of == "bisect");
}

TEST_CASE("ledger: a run knows its workload, can be found by it, and gets it where an older version recorded the run") {
  const LedgerPlace place(GENERATE(from_range(test::ledger_databases())));
  Ledger ledger = place.open();
  for (const auto& [id, batch] : {std::pair{"one", 1}, {"eight", 8}}) {
    Run run = ledger_run(id, "2026-11-16T10:00:00Z");
    run.workload.command = {"python3", "generate.py"};
    run.latency.batch = batch;
    ledger.record(run, exporters::run_to_json(run), "");
  }
  const LedgerEntry eight = ledger.resolve("eight");
  CHECK(eight.workload.size() == 16);
  CHECK(eight.workload_text == "generate.py, batch 8");
  LedgerFilter same;
  same.workload = eight.workload.substr(0, 6);
  CHECK(ids_of(ledger.query(same)) == Ids{"eight"});

  ledger.connection().run("UPDATE runs SET workload = NULL, workload_text = NULL");
  CHECK(ledger.resolve("eight").workload.empty());
  ledger.make_workloads();
  CHECK(ledger.resolve("eight").workload == eight.workload);
  CHECK(ledger.resolve("one").workload_text == "generate.py, batch 1");
}

TEST_CASE("ledger: a run without a readable run.json has no known workload, and is not asked for it again") {
  const LedgerPlace place("sqlite");
  Ledger ledger = place.open();
  ledger.record(ledger_run("one", "2026-11-16T10:00:00Z"), "{}", "");
  ledger.connection().run("UPDATE runs SET workload = NULL");
  ledger.make_workloads();
  bool known = false;
  ledger.connection().select("SELECT workload FROM runs", {}, [&](const database::Row& row) { known = !row.is_null(0); });
  CHECK(known);
}
