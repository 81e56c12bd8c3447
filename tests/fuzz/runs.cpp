// What nl-stage wrote itself, as it may come back.
#include "analysis/replay/interval_scale.h"
#include "exporters/whatif/whatif.h"
#include "orchestrator/bundle/read_run.h"
#include "runs/archive/archive.h"
#include "runs/ledger/bundles.h"
#include "runs/ledger/ledger.h"
#include "tests/fuzz/input_files.h"
#include "tests/fuzz/readers.h"

namespace nl::fuzz::read {
namespace {

std::string new_ledger() {
  const auto file = as_file({}, "empty.sqlite");
  runs::Ledger::open(file.string());
  return orchestrator::read_run_text(file);
}

}  // namespace

void run_json(std::string_view bytes) {
  const std::string text(bytes);
  // The schema refuses what is older, which is read nevertheless.
  if (takes([&] { orchestrator::validate_run_json(text); })) takes([&] { orchestrator::refuse_contradictions(text); });
  orchestrator::read_run(text, "run.json");
}

void whatif(std::string_view bytes) { exporters::predictions_from_json(bytes, "whatif.json"); }

void archive(std::string_view bytes) {
  const auto file = as_archive(bytes);
  // A hostile one may fill the memory of the fuzzer's disk before it is refused.
  runs::import_bundle({.archive = file, .out = file.parent_path() / "out", .ledger_location = {}, .limits = {.total_bytes = 1 << 24}});
}

void ledger(std::string_view bytes) {
  static const std::string empty = new_ledger();
  auto ledger = runs::Ledger::open(as_database(bytes, empty).string(), runs::database::Absent::kRefuse);
  ledger.make_workloads();
  const std::vector<std::string> metrics = ledger.metric_keys();
  for (const std::string& metric : metrics) ledger.each_value({}, metric, [](const runs::LedgerValue&) {});
  for (const runs::LedgerEntry& entry : ledger.query({.metrics = metrics, .parts = true})) {
    ledger.notes(entry.run_id);
    ledger.metrics(entry.run_id);
    takes([&] { orchestrator::read_run(ledger.run_json(entry.run_id), "run.json"); });
  }
  analysis::prediction_records(ledger.pairs());
  ledger.query({.words = "llama gemm", .limit = 3});
  ledger.resolve("last");
  ledger.apply({.keep_last = 1});
}

}  // namespace nl::fuzz::read
