#include "runs/compare/recorded.h"

#include <cmath>
#include <string>

#include "tests/catch.h"
#include "tests/unit/runs/ledger/ledger_places.h"

using namespace nl;
using namespace nl::runs;
using test::ledger_run, test::LedgerPlace;

TEST_CASE("recorded: runs of the same workload on the same hardware tell how much runs differ") {
  const LedgerPlace place(test::ledger_databases().front());
  Ledger ledger = place.open();
  const auto add = [&](int number, double step_ns, const std::string& model, const std::string& processor) {
    Run run = ledger_run(model + processor + std::to_string(number), "2026-11-16T10:00:" + std::to_string(10 + number) + "Z", step_ns);
    run.model.name = model;
    run.hardware.cpu_model = processor;  // names the hardware of a run without kernels
    ledger.record(run, "{}", "");
    return run;
  };
  Run run;
  for (int i = 0; i < 20; ++i) {
    run = add(i, i % 2 == 0 ? 1000 : 1020, "llama", "Xeon");
    add(i, i % 2 == 0 ? 1000 : 3000, "other", "Xeon");
    add(i, i % 2 == 0 ? 1000 : 3000, "llama", "Epyc");
  }
  const auto known = recorded_wander(run, "decode_step", place.location);
  REQUIRE(known);
  CHECK(known->runs == 20);
  CHECK(known->wander.spread == Approx(0.0198 / std::sqrt(2.0)).epsilon(0.01));  // each differs from the one before by 2 %
  CHECK_FALSE(recorded_wander(run, "prefill", place.location));
  CHECK_FALSE(recorded_wander(run, "decode_step", (place.folder.path / "none.sqlite").string()));
}
