#include "runs/ledger/pairs.h"

#include <cmath>

#include "model/error.h"
#include "runs/ledger/bundles.h"
#include "runs/ledger/schema.h"
#include "tests/catch.h"
#include "tests/unit/runs/ledger/ledger_places.h"

using namespace nl;
using namespace nl::runs;
using test::LedgerPlace;

namespace {

PredictionPair made_pair(const std::string& hardware, double measured_ratio) {
  PredictionPair pair;
  pair.hardware = hardware;
  pair.workload = "0123456789abcdef";
  pair.workload_text = "generate.py, llama";
  pair.stage = "decode_step";
  pair.changes = "--graph decode_step";
  pair.kind = "graph";
  pair.tracer = "collector";
  pair.interval_scale = 1.25;
  pair.predicted_ratio = 0.39;
  pair.low_ratio = 0.32;
  pair.high_ratio = 0.48;
  pair.measured_ratio = measured_ratio;
  return pair;
}

// A capture of one kernel on one of two GPUs.
Evidence h200_evidence() {
  Evidence evidence;
  evidence.trace.devices.resize(2);
  evidence.trace.devices[0].name = "NVIDIA L4";
  evidence.trace.devices[1].id = 1;
  evidence.trace.devices[1].name = "NVIDIA H200";
  evidence.trace.queues.emplace_back().device = 1;
  evidence.trace.kernels.emplace_back();
  evidence.trace.stats.source_format = SourceFormat::kNsysSqlite;
  return evidence;
}

}  // namespace

TEST_CASE("ledger pairs: a pair comes back as it was recorded, by its hardware") {
  const LedgerPlace place(GENERATE(from_range(test::ledger_databases())));
  Ledger ledger = place.open();
  CHECK(ledger.pairs().empty());
  PredictionPair first = made_pair("NVIDIA H200", 0.43);
  first.recorded_at = "2026-11-18T12:00:00Z";
  first.measured_low_ratio = 0.42;
  first.measured_high_ratio = 0.45;
  ledger.record_pair(first);
  ledger.record_pair(made_pair("NVIDIA A100", 0.5));
  CHECK(ledger.pairs().size() == 2);
  REQUIRE(ledger.pairs("NVIDIA H200").size() == 1);
  const PredictionPair read = ledger.pairs("NVIDIA H200")[0];
  CHECK(read.recorded_at == "2026-11-18T12:00:00Z");
  CHECK(read.workload == "0123456789abcdef");
  CHECK(read.workload_text == "generate.py, llama");
  CHECK(read.stage == "decode_step");
  CHECK(read.changes == "--graph decode_step");
  CHECK(read.kind == "graph");
  CHECK(read.tracer == "collector");
  CHECK(read.interval_scale == 1.25);
  CHECK(read.predicted_ratio == 0.39);
  CHECK(read.low_ratio == 0.32);
  CHECK(read.high_ratio == 0.48);
  CHECK(read.measured_ratio == 0.43);
  CHECK(read.measured_low_ratio == 0.42);
  CHECK(read.measured_high_ratio == 0.45);
  const PredictionPair other = ledger.pairs("NVIDIA A100")[0];
  CHECK_FALSE(other.measured_low_ratio);
  CHECK(other.recorded_at.size() == std::string("2026-11-18T12:00:00Z").size());
}

TEST_CASE("ledger pairs: a ledger of the version before gets the table and keeps its runs") {
  const LedgerPlace place("sqlite");
  place.open().record(test::ledger_run("one", "2026-11-16T10:00:00Z"), "{}", "");
  place.open().connection().run("DROP TABLE prediction_pairs");
  place.open().connection().run("UPDATE ledger_version SET version = 4");
  Ledger ledger = place.open();
  ledger.record_pair(made_pair("NVIDIA H200", 0.43));
  CHECK(ledger.pairs().size() == 1);
  CHECK(ledger.query({}).size() == 1);
}

TEST_CASE("ledger pairs: recording respects a ledger that is off, and a failure is told, not thrown") {
  const LedgerPlace place("sqlite");
  const PredictionPair pair = made_pair("NVIDIA H200", 0.43);
  for (const LedgerOptions& off :
       {LedgerOptions{.enabled = false, .path = place.location}, LedgerOptions{.path = "off"}, LedgerOptions{}}) {
    const LedgerRecord none = record_pair(off, pair);  // the last: the tests' own NL_STAGE_LEDGER=off
    CHECK(none.location.empty());
    CHECK_FALSE(none.failure);
  }
  CHECK(record_pair({.path = place.location}, pair).location == place.location);
  CHECK(place.open().pairs().size() == 1);
  const LedgerRecord failed = record_pair({.path = place.folder.file("notes.txt", "no ledger").string()}, pair);
  CHECK(failed.location.empty());
  CHECK(failed.failure);
}

TEST_CASE("prediction origin: hardware, tracer, and the scale by the pairs of that hardware") {
  const LedgerPlace place("sqlite");
  {
    Ledger ledger = place.open();
    for (int i = 1; i <= 9; ++i) ledger.record_pair(made_pair("NVIDIA H200", 0.39 * std::pow(1.5, 0.1 * i)));
    for (int i = 1; i <= 9; ++i) ledger.record_pair(made_pair("NVIDIA L4", 0.39));
  }
  const PredictionOrigin origin = prediction_origin(h200_evidence(), place.location);
  CHECK(origin.hardware == "NVIDIA H200");  // the other GPU ran no kernel
  CHECK(origin.tracer == "nsys");
  CHECK(origin.pairs == 9);
  CHECK(origin.interval_scale == Approx(0.9 * std::log(1.5) / (std::log(1.5) / 2 / 1.25)));  // 0.48 is 1.5 times 0.32
}

TEST_CASE("prediction origin: a ledger that is off, absent or none scales nothing") {
  const test::Folder folder;
  for (const std::string& ledger :
       {std::string("off"), (folder / "absent.sqlite").string(), folder.file("notes.txt", "no ledger").string()}) {
    const PredictionOrigin origin = prediction_origin(h200_evidence(), ledger);
    CHECK(origin.interval_scale == 1);
    CHECK(origin.pairs == 0);
    CHECK(origin.hardware == "NVIDIA H200");
  }
  CHECK_FALSE(std::filesystem::exists(folder / "absent.sqlite"));
}
