#include "orchestrator/analyse.h"

#include <csignal>

#include "model/words.h"
#include "orchestrator/process/interrupts.h"
#include "orchestrator/run.h"
#include "tests/catch.h"
#include "tests/unit/analysis/trace_builder.h"
#include "tests/unit/orchestrator/machine/fake_tree.h"

using namespace nl;
using namespace nl::orchestrator;

namespace {

orchestrator::Evidence traced() {
  TraceBuilder builder;
  builder.stage("prefill", 1000, 5000);
  orchestrator::Evidence evidence;
  evidence.trace = std::move(builder.trace);
  evidence.trace.has_range_data = true;
  return evidence;
}

}  // namespace

TEST_CASE("Ctrl-C while the run is analysed: the run is interrupted, and so is the exit status") {
  const int number = GENERATE(SIGINT, SIGTERM);
  Interrupts interrupts;
  orchestrator::Evidence evidence = traced();
  CHECK(analyse(evidence, {}).status == RunStatus::kComplete);
  // The analysis waits for the digests, and the signal comes just then.
  evidence.inputs_sha256 = std::async(std::launch::deferred, [number] {
    raise(number);
    return std::map<std::string, std::string>();
  });
  Run run = analyse(evidence, {});
  CHECK(run.status == RunStatus::kInterrupted);
  REQUIRE(run.problems.size() == 1);
  CHECK(run.problems[0].code == (number == SIGINT ? Code::kInterrupted : Code::kEndedFromOutside));
  evidence.problems = run.problems;
  CHECK(analyse(evidence, {}).problems.size() == 1);  // said once
  const test::FakeTree tree;
  const Bundle bundle = Bundle::create({tree.root() / "runs", {}, "x", "deep"}, std::chrono::system_clock::now());
  const RunResult result = result_of(std::move(run), bundle);
  CHECK(result.failure == ErrorKind::kInterrupted);
  CHECK(result.interrupt_signal == number);
}

TEST_CASE("what the trace file leaves out is in the run from its start") {
  const Run run = analyse(traced(), {}, [](const Run& judged) {
    CHECK(judged.stages.size() == 1);
    return Remark{Code::kTraceThinned, {"trace.pftrace", "3 of 9 events"}};
  });
  CHECK(run.provenance.adaptations == std::vector<Remark>{{Code::kTraceThinned, {"trace.pftrace", "3 of 9 events"}}});
}

namespace {

// Three kernels, the longest first; the second runs only in CUDA graphs, and two are chosen.
Run counted(Meter meter, const std::optional<Remark>& counters_missing) {
  TraceBuilder builder;
  builder.stage("prefill", 1000, 9000);
  builder.kernel("long", 1200, 3000, builder.call(1100));
  builder.kernel("graphed", 4300, 2000, builder.call(4250)).in_graph = 1;
  builder.kernel("short", 6400, 100, builder.call(6350));
  orchestrator::Evidence evidence;
  evidence.trace = std::move(builder.trace);
  evidence.meter = meter;
  evidence.counters_missing = counters_missing;
  Knowledge knowledge;
  knowledge.options.top_n_kernels = 2;
  return analyse(evidence, knowledge);
}

}  // namespace

TEST_CASE("a chosen kernel without counters says why, and any other that it was not chosen") {
  const Remark denied{Code::kCountersDenied, {"CUPTI"}}, in_graphs{Code::kOnlyInGraphs}, not_measured{Code::kNotMeasured},
      not_chosen{Code::kNotChosen};
  const auto notes = [](const Run& run) {
    REQUIRE(run.kernels);
    REQUIRE(run.kernels->size() == 3);
    CHECK((*run.kernels)[0].name == "long");
    std::vector<std::optional<Remark>> found;
    for (const KernelEntry& kernel : *run.kernels) found.push_back(kernel.ncu_note);
    return found;
  };
  using Notes = std::vector<std::optional<Remark>>;
  CHECK((notes(counted(Meter::kNcu, denied)) == Notes{denied, denied, not_chosen}));
  CHECK((notes(counted(Meter::kCupti, denied)) == Notes{denied, in_graphs, not_chosen}));
  CHECK((notes(counted(Meter::kCupti, std::nullopt)) == Notes{not_measured, in_graphs, not_chosen}));
}
