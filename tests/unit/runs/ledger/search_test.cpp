#include "model/error.h"
#include "runs/ledger/full_text.h"
#include "runs/ledger/ledger.h"
#include "tests/catch.h"
#include "tests/unit/runs/ledger/ledger_places.h"

using namespace nl;
using namespace nl::runs;
using test::ids_of, test::ledger_run, test::LedgerPlace;
using Ids = std::vector<std::string>;

namespace {

// Three runs that differ in everything that can be searched for.
void record_three(Ledger& ledger) {
  Run llama = ledger_run("llama", "2026-11-14T10:00:00Z", 1000);
  llama.model.name = "Llama-3.1-8B";
  llama.hardware.gpus.resize(2);
  llama.hardware.gpus[0].name = "NVIDIA H200";
  llama.workload.command = {"python", "serve.py", "--größe=7"};
  llama.workload.repository = Repository{"/src/serve", "abc123def", false};
  KernelEntry kernel;
  kernel.short_name = "flash_fwd_splitkv";
  llama.kernels = {kernel};
  ledger.record(llama, "{}", "");

  Run qwen = ledger_run("qwen", "2026-11-15T10:00:00Z", 2000);
  qwen.model.name = "Qwen_2.5";
  qwen.model.precision = "int4 weights (gptq), bf16 compute";
  qwen.hardware.gpus.resize(1);
  qwen.hardware.gpus[0].name = "NVIDIA A100-SXM4-80GB";
  qwen.software.backend = "vllm";
  qwen.status = RunStatus::kPartial;
  ledger.record(qwen, "{}", "");

  Run cpu = ledger_run("cpu", "2026-11-16T10:00:00Z", 3000);
  cpu.mode = "light";
  cpu.stages.clear();
  ledger.record(cpu, "{}", "");
}

}  // namespace

TEST_CASE("ledger: words are cut as people type them") {
  CHECK(search_words("Llama-3.1 8B/größe=7 ") == Ids{"llama", "3", "1", "8b", "größe", "7"});
  CHECK(search_words("-- '\" :* ()").empty());
}

TEST_CASE("ledger: full text finds words and beginnings of words, all of them") {
  const LedgerPlace place(GENERATE(from_range(test::ledger_databases())));
  Ledger ledger = place.open();
  record_three(ledger);
  CHECK(ids_of(ledger.query({.words = "llama"})) == Ids{"llama"});
  CHECK(ids_of(ledger.query({.words = "LLAM 8b"})) == Ids{"llama"});
  CHECK(ids_of(ledger.query({.words = "nvidia"})) == Ids{"qwen", "llama"});
  CHECK(ids_of(ledger.query({.words = "nvidia vllm"})) == Ids{"qwen"});
  CHECK(ids_of(ledger.query({.words = "splitkv"})) == Ids{"llama"});
  CHECK(ids_of(ledger.query({.words = "größe"})) == Ids{"llama"});
  CHECK(ids_of(ledger.query({.words = "abc123"})) == Ids{"llama"});
  CHECK(ids_of(ledger.query({.words = "lama"})).empty());
  CHECK(ids_of(ledger.query({.words = "NEAR(llama) OR \"qwen"})).empty());  // no language: four words
  CHECK_THROWS_AS(ledger.query({.words = "--"}), Error);
}

TEST_CASE("ledger: tags and notes are found as soon as they are written") {
  const LedgerPlace place(GENERATE(from_range(test::ledger_databases())));
  Ledger ledger = place.open();
  record_three(ledger);
  ledger.add_tag("qwen", "release-2");
  ledger.add_note("cpu", "Throttled: it's warm here; 100 % load");
  CHECK(ids_of(ledger.query({.words = "release"})) == Ids{"qwen"});
  CHECK(ids_of(ledger.query({.words = "throttled it s warm 100"})) == Ids{"cpu"});
  CHECK(ids_of(ledger.query({.tags = {"release-2"}})) == Ids{"qwen"});
  CHECK(ids_of(ledger.query({.tags = {"release-2", "other"}})).empty());
  CHECK(ledger.query({.tags = {"release-2"}})[0].tags == Ids{"release-2"});
}

TEST_CASE("ledger: fields narrow a search, and all must hold") {
  const LedgerPlace place(GENERATE(from_range(test::ledger_databases())));
  Ledger ledger = place.open();
  record_three(ledger);
  CHECK(ids_of(ledger.query({})) == Ids{"cpu", "qwen", "llama"});
  CHECK(ids_of(ledger.query({.limit = 2})) == Ids{"cpu", "qwen"});
  CHECK(ids_of(ledger.query({.gpu = "h200"})) == Ids{"llama"});
  CHECK(ids_of(ledger.query({.model = "qwen_"})) == Ids{"qwen"});
  CHECK(ids_of(ledger.query({.model = "3_1"})).empty());  // _ and % are themselves
  CHECK(ids_of(ledger.query({.mode = "light"})) == Ids{"cpu"});
  CHECK(ids_of(ledger.query({.status = "partial"})) == Ids{"qwen"});
  CHECK(ids_of(ledger.query({.precision = "gptq"})) == Ids{"qwen"});
  CHECK(ids_of(ledger.query({.backend = "vllm"})) == Ids{"qwen"});
  CHECK(ids_of(ledger.query({.revision = "abc"})) == Ids{"llama"});
  CHECK(ids_of(ledger.query({.since = "2026-11-15"})) == Ids{"cpu", "qwen"});
  CHECK(ids_of(ledger.query({.until = "2026-11-15"})) == Ids{"qwen", "llama"});
  CHECK(ids_of(ledger.query({.since = "2026-11-15T10:00:00Z", .until = "2026-11-15T10:00:00Z"})) == Ids{"qwen"});
  CHECK(ids_of(ledger.query({.words = "nvidia", .gpu = "H200"})) == Ids{"llama"});
  CHECK(ids_of(ledger.query({.gpu = "' OR 1 = 1 --"})).empty());
}

TEST_CASE("ledger: metrics come with the runs that have them") {
  const LedgerPlace place(GENERATE(from_range(test::ledger_databases())));
  Ledger ledger = place.open();
  record_three(ledger);
  const std::string key = "stage.decode_step.median_ms";
  const auto all = ledger.query({.metrics = {key}});
  REQUIRE(ids_of(all) == Ids{"cpu", "qwen", "llama"});
  CHECK(all[0].metrics.empty());
  CHECK(all[1].metrics.at(key) == 0.002);
  CHECK(all[2].metrics.at(key) == 0.001);
  CHECK(ids_of(ledger.query({.gpu = "H200", .metrics = {key}, .only_with_metrics = true})) == Ids{"llama"});
  CHECK(ids_of(ledger.query({.metrics = {key}, .only_with_metrics = true})) == Ids{"qwen", "llama"});
}
