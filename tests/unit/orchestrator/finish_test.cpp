#include "orchestrator/finish.h"

#include <csignal>

#include "orchestrator/process/interrupts.h"
#include "tests/catch.h"
#include "tests/unit/analysis/trace_builder.h"
#include "tests/unit/files.h"
#include "tests/unit/orchestrator/machine/fake_tree.h"

using namespace nl;
using namespace nl::orchestrator;

namespace {

Evidence traced() {
  TraceBuilder builder;
  builder.stage("prefill", 1000, 5000);
  Evidence evidence;
  evidence.trace = std::move(builder.trace);
  evidence.trace.has_range_data = true;
  return evidence;
}

Config with_trace_file() {
  Config config;
  config.artifacts.perfetto = true;
  return config;
}

struct Concluded {
  test::FakeTree tree;
  Config config = with_trace_file();
  Bundle bundle = Bundle::create({tree.root() / "runs", {}, "x", "deep"}, std::chrono::system_clock::now());

  RunResult of(const Evidence& evidence) const { return conclude(evidence, {}, config, bundle, {}); }
};

}  // namespace

TEST_CASE("Ctrl-C while the run is analysed: the run is interrupted, and so is the exit status") {
  const int number = GENERATE(SIGINT, SIGTERM);
  Interrupts interrupts;
  Evidence evidence = traced();
  const Concluded concluded;
  CHECK(concluded.of(evidence).run.status == RunStatus::kComplete);
  // The analysis waits for the digests, and the signal comes just then.
  evidence.inputs_sha256 = std::async(std::launch::deferred, [number] {
    raise(number);
    return std::map<std::string, std::string>();
  });
  const RunResult result = concluded.of(evidence);
  CHECK(result.run.status == RunStatus::kInterrupted);
  REQUIRE(result.run.problems.size() == 1);
  CHECK(result.run.problems[0].code == (number == SIGINT ? Code::kInterrupted : Code::kEndedFromOutside));
  CHECK(result.failure == ErrorKind::kInterrupted);
  CHECK(result.interrupt_signal == number);
  CHECK(test::read_text(result.bundle / "run.json").find("\"interrupted\"") != std::string::npos);
  evidence.problems = result.run.problems;
  CHECK(concluded.of(evidence).run.problems.size() == 1);  // said once
}

TEST_CASE("a run is handed to whoever records it, with the text of its run.json") {
  const Concluded concluded;
  std::string recorded;
  const RecordRun record = [&](const LedgerOptions&, const Run& run, std::string_view run_json, const std::filesystem::path& bundle) {
    CHECK(run.stages.size() == 1);
    CHECK(bundle == concluded.bundle.path());
    recorded = run_json;
    return LedgerRecord{"here", {}};
  };
  CHECK(conclude(traced(), {}, Config(), concluded.bundle, record).ledger.location == "here");
  CHECK(recorded == test::read_text(concluded.bundle.path() / "run.json"));
}

TEST_CASE("what the trace file leaves out is in the run, and in its run.json") {
  TraceBuilder builder;
  builder.stage("prefill", 1000, 9000);
  for (int i = 0; i < 40; ++i) builder.kernel("k", 2000 + i, 1000, builder.call(1100 + 3 * i));  // 40 overlap, a track has 32 lanes
  Evidence evidence;
  evidence.trace = std::move(builder.trace);
  const Concluded concluded;
  const RunResult result = concluded.of(evidence);
  const Remark thinned{Code::kTraceThinned, {"trace.pftrace", "8 events are not shown: too many overlap on their track"}};
  CHECK(result.run.provenance.adaptations == std::vector<Remark>{thinned});
  CHECK(test::read_text(result.bundle / "run.json").find("8 events are not shown") != std::string::npos);
}
