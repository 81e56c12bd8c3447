#include "analysis/runs/gate/gate.h"

#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "model/error.h"
#include "tests/catch.h"

// Expectations against runs: outcomes, what may not be compared, and what --update would write.
using namespace nl;
using namespace nl::analysis;

namespace {

GateRun run_with(const std::string& id, double tpot_ms, double tokens_per_s = 100, const std::string& mode = "nsys") {
  GateRun run{id, "NVIDIA H200", {id, "abc", "1.0.0", mode, "llama"}, {}};
  run.metrics = {{"tpot_ms", tpot_ms, find_metric("tpot_ms"), false},
                 {"tokens_per_s", tokens_per_s, find_metric("tokens_per_s"), false},
                 {"tpot_unprofiled_ms", tpot_ms / 2, find_metric("tpot_unprofiled_ms"), true}};
  return run;
}

Expectation expected(const std::string& metric, double value, const std::string& mode = "nsys") {
  return {metric, value, {}, {"old", "000", "1.0.0", mode, "llama"}, 7};
}

Expectations on_h200(std::vector<Expectation> list) { return {{0.05, true}, {{"NVIDIA H200", std::move(list)}}}; }

GateLine only_line(const Expectations& expectations, const std::vector<GateRun>& runs) {
  const auto results = judge(expectations, runs);
  REQUIRE(results.size() == 1);
  REQUIRE(results[0].lines.size() == 1);
  return results[0].lines[0];
}

std::string refusal(const Expectations& expectations, const std::vector<GateRun>& runs) {
  try {
    judge(expectations, runs);
  } catch (const Error& error) {
    CHECK(error.kind == ErrorKind::kInput);
    return error.message;
  }
  return "";
}

}  // namespace

TEST_CASE("gate: a lower time is an improvement, a higher one a regression, within the tolerance neither") {
  const Expectations ten = on_h200({expected("tpot_ms", 10)});
  CHECK(only_line(ten, {run_with("a", 10.5)}).outcome == GateOutcome::kMet);  // the edge belongs to it
  CHECK(only_line(ten, {run_with("a", 9.5)}).outcome == GateOutcome::kMet);
  CHECK(only_line(ten, {run_with("a", 10.51)}).outcome == GateOutcome::kUndecided);  // two runs of one build may differ as much
  CHECK(only_line(ten, {run_with("a", 9.49)}).outcome == GateOutcome::kUndecided);
  CHECK(only_line(ten, {run_with("a", 11.8)}).outcome == GateOutcome::kRegressed);
  CHECK(only_line(ten, {run_with("a", 8.4)}).outcome == GateOutcome::kImproved);
  const GateLine line = only_line(ten, {run_with("a", 12)});
  CHECK(*line.likely_low == Approx(12 * std::exp(-2.306004 * 0.035 * std::sqrt(2.0))));
  CHECK(line.low == 9.5);
  CHECK(line.high == 10.5);
  CHECK(line.change().value() == Approx(0.2));
  CHECK(line.line == 7);
  CHECK(line.failed());
}

TEST_CASE("gate: of tokens per second more is better") {
  const Expectations hundred = on_h200({expected("tokens_per_s", 100)});
  CHECK(only_line(hundred, {run_with("a", 10, 84)}).outcome == GateOutcome::kRegressed);
  CHECK(only_line(hundred, {run_with("a", 10, 120)}).outcome == GateOutcome::kImproved);
}

TEST_CASE("gate: a tolerance of its own, of the expected value or in its unit") {
  Expectations ten = on_h200({expected("tpot_ms", 10)});
  ten.hardware[0].list[0].tolerance = Tolerance{0.2, true};
  CHECK(only_line(ten, {run_with("a", 12)}).outcome == GateOutcome::kMet);
  ten.hardware[0].list[0].tolerance = Tolerance{0.2, false};
  CHECK(only_line(ten, {run_with("a", 10.2)}).outcome == GateOutcome::kMet);
  CHECK(only_line(ten, {run_with("a", 10.3)}).outcome == GateOutcome::kUndecided);
  CHECK(only_line(ten, {run_with("a", 11.5)}).outcome == GateOutcome::kRegressed);
  ten.hardware[0].list[0] = expected("tpot_ms", 0);
  CHECK(only_line(ten, {run_with("a", 0)}).outcome == GateOutcome::kMet);
  CHECK_FALSE(only_line(ten, {run_with("a", 1)}).change());
}

TEST_CASE("gate: what the run does not have is missing, and never zero") {
  const GateLine line = only_line(on_h200({expected("ttft_ms", 10)}), {run_with("a", 10)});
  CHECK(line.outcome == GateOutcome::kMissing);
  CHECK_FALSE(line.value);
  CHECK(line.failed());
}

TEST_CASE("gate: of several runs on one hardware the median counts") {
  const GateLine line = only_line(on_h200({expected("tpot_ms", 10)}), {run_with("a", 10), run_with("b", 30), run_with("c", 10.2)});
  CHECK(line.value == 10.2);
  CHECK(line.values == std::vector<double>{10, 30, 10.2});
  CHECK(only_line(on_h200({expected("tpot_ms", 10)}), {run_with("a", 10), run_with("b", 11)}).value == 10.5);
}

TEST_CASE("gate: hardware without expectations of its own shows the file's metrics as new") {
  GateRun other = run_with("a", 10);
  other.hardware = "NVIDIA L4";
  const auto results = judge(on_h200({expected("tpot_ms", 10), expected("ttft_ms", 10)}), {run_with("b", 10), other});
  REQUIRE(results.size() == 2);
  CHECK(results[1].hardware == "NVIDIA L4");
  REQUIRE(results[1].lines.size() == 1);
  CHECK(results[1].lines[0].metric == "tpot_ms");
  CHECK(results[1].lines[0].outcome == GateOutcome::kNew);
  CHECK_FALSE(results[1].lines[0].failed());
  CHECK(judge(Expectations(), {other})[0].lines.empty());
}

TEST_CASE("gate: figures of different capture modes or models are not compared") {
  CHECK(refusal(on_h200({expected("tpot_ms", 10)}), {run_with("a", 10, 100, "collector (CUPTI)")}) ==
        "tpot_ms is expected of 'nsys' and was captured by 'collector (CUPTI)'");
  // An expectation of an unprofiled run against a profiled figure, and the other way round.
  CHECK(refusal(on_h200({expected("tpot_ms", 10, "unprofiled")}), {run_with("a", 10)}) ==
        "tpot_ms is expected of 'unprofiled' and was captured by 'nsys'");
  CHECK(refusal(on_h200({expected("tpot_unprofiled_ms", 5)}), {run_with("a", 10)}) ==
        "tpot_unprofiled_ms is expected of 'nsys' and was captured by 'unprofiled'");
  CHECK(refusal(on_h200({expected("tpot_ms", 10)}), {run_with("a", 10), run_with("b", 10, 100, "import (kineto)")}) ==
        "tpot_ms is expected of 'nsys' and was captured by 'import (kineto)'");
  GateRun other = run_with("a", 10);
  other.from.model = "qwen";
  CHECK(refusal(on_h200({expected("tpot_ms", 10)}), {other}) == "tpot_ms is expected of the model 'llama', and this run is of 'qwen'");
  other.from.model.clear();  // not known: nothing to hold against it
  CHECK(refusal(on_h200({expected("tpot_ms", 10)}), {other}).empty());
}

TEST_CASE("gate: unprofiled figures do not depend on who traced beside them") {
  const Expectations expectations = on_h200({expected("tpot_unprofiled_ms", 5, "unprofiled")});
  CHECK(only_line(expectations, {run_with("a", 10, 100, "collector (CUPTI)")}).outcome == GateOutcome::kMet);
}

TEST_CASE("gate: what a run says of itself") {
  Run run;
  run.run_id = "r1";
  run.provenance.tracer = Tracer::kNsys;
  run.software.nl_stage_version = "1.2.3";
  run.model.name = "llama";
  run.workload.repository = Repository{"/src", "abc", true};
  const GateRun gated = gate_run(run);
  CHECK(gated.from == ExpectationSource{"r1", "abc-modified", "1.2.3", "nsys", "llama"});
  run.provenance.tracer = Tracer::kImport;
  run.import_stats.source_format = SourceFormat::kKineto;
  CHECK(gate_run(run).from.captured_by == "import (kineto)");
}

TEST_CASE("gate update: what is met stays, what is not is set with its source") {
  const Expectations before = on_h200({expected("tpot_ms", 10), expected("tokens_per_s", 100)});
  const Expectations after = updated(before, {run_with("a", 10.4, 123.4567891)}, {});
  REQUIRE(after.hardware.size() == 1);
  CHECK(after.hardware[0].find("tpot_ms")->expected == 10);
  CHECK(after.hardware[0].find("tpot_ms")->from.run == "old");
  CHECK(after.hardware[0].find("tokens_per_s")->expected == 123.457);
  CHECK(after.hardware[0].find("tokens_per_s")->from == ExpectationSource{"a", "abc", "1.0.0", "nsys", "llama"});
  // Again with the same run: exactly nothing changes.
  const Expectations again = updated(after, {run_with("a", 10.4, 123.4567891)}, {});
  CHECK(again.hardware[0].find("tokens_per_s")->expected == 123.457);
}

TEST_CASE("gate update: new metrics by pattern, and those that other hardware has") {
  GateRun l4 = run_with("a", 20);
  l4.hardware = "NVIDIA L4";
  const Expectations after = updated(on_h200({expected("tpot_ms", 10)}), {l4, run_with("b", 10)}, {"tpot_unp*"});
  REQUIRE(after.hardware.size() == 2);
  REQUIRE(after.of("NVIDIA L4"));
  CHECK(after.of("NVIDIA L4")->list.size() == 2);
  CHECK(after.of("NVIDIA L4")->find("tpot_ms")->expected == 20);
  CHECK(after.of("NVIDIA L4")->find("tpot_unprofiled_ms")->from.captured_by == "unprofiled");
  CHECK(after.of("NVIDIA H200")->find("tokens_per_s") == nullptr);
  CHECK(updated(Expectations(), {l4}, {}).hardware.empty());
}

TEST_CASE("gate update: a change of the capture mode sets all of a hardware, or nothing") {
  const std::vector<GateRun> collector = {run_with("a", 10, 100, "collector (CUPTI)")};
  const Expectations after = updated(on_h200({expected("tpot_ms", 10)}), collector, {});
  CHECK(after.hardware[0].list[0].from.captured_by == "collector (CUPTI)");
  CHECK(of_other_mode(after.hardware[0]) == nullptr);
  CHECK_THROWS_AS(updated(on_h200({expected("ttft_ms", 3), expected("tpot_ms", 10)}), collector, {}), Error);
  const auto mixed =
      on_h200({expected("tpot_unprofiled_ms", 5, "unprofiled"), expected("tpot_ms", 10), expected("tokens_per_s", 1, "import (kineto)")});
  CHECK(of_other_mode(mixed.hardware[0])->metric == "tokens_per_s");
}

TEST_CASE("gate: another batch, prompt, precision or architecture is not comparable, and missing") {
  const auto of = [](std::string ExpectationSource::* fact, const std::string& value, GateRun run) {
    run.from.*fact = value;
    return run;
  };
  for (const WorkloadFact& fact : kWorkloadFacts) {
    Expectations ten = on_h200({expected("tpot_ms", 10)});
    ten.hardware[0].list[0].from.*fact.value = "1";
    const GateLine line = only_line(ten, {of(fact.value, "8", run_with("a", 10))});
    CHECK(line.outcome == GateOutcome::kMissing);
    CHECK_FALSE(line.value);
    REQUIRE(line.not_comparable);
    CHECK(line.not_comparable->key == fact.key());
    CHECK(line.not_comparable->expected == "1");
    CHECK(line.not_comparable->given == "8");
    CHECK(only_line(ten, {of(fact.value, "1", run_with("a", 10))}).outcome == GateOutcome::kMet);
    CHECK(only_line(ten, {run_with("a", 10)}).outcome == GateOutcome::kMet);  // not known differs from nothing
    CHECK(updated(ten, {of(fact.value, "8", run_with("b", 10))}, {}).hardware[0].list[0].from.*fact.value == "8");
  }
  const Expectations none;
  CHECK_THROWS_AS(
      updated(none, {of(&ExpectationSource::batch, "1", run_with("a", 10)), of(&ExpectationSource::batch, "8", run_with("b", 10))},
              {"tpot_ms"}),
      Error);
}

TEST_CASE("gate: one run of another workload fails the metric, whatever the others reached") {
  Expectations ten = on_h200({expected("tpot_ms", 10)});
  ten.hardware[0].list[0].from.batch = "1";
  GateRun same = run_with("a", 10), other = run_with("b", 10);
  same.from.batch = "1";
  other.from.batch = "8";
  for (const std::vector<GateRun>& runs : {std::vector{same, other}, std::vector{other, same}}) {
    const GateLine line = only_line(ten, runs);
    CHECK(line.outcome == GateOutcome::kMissing);
    CHECK(line.failed());
    CHECK_FALSE(line.value);
    CHECK(line.not_comparable->given == "8");
  }
  CHECK(only_line(ten, {same, same}).outcome == GateOutcome::kMet);
}

TEST_CASE("gate: what a run was of comes from its model, latency and prefill") {
  Run run;
  run.model.attributes = {{"architecture", "llama"}, {"dtype", "bf16"}};
  run.latency.batch = 4;
  StageEntry prefill;
  prefill.name = "prefill";
  prefill.tokens_per_window = 513;  // of all four prompts
  run.stages = {prefill};
  const ExpectationSource from = gate_run(run).from;
  CHECK(from.architecture == "llama");
  CHECK(from.precision == "bf16");
  CHECK(from.batch == "4");
  CHECK(from.prompt_tokens == "128");
}

TEST_CASE("gate: the length of a prompt is a whole number, and a few tokens make no other workload") {
  Run run;
  run.latency.batch = 4;
  run.model.attributes = {{"prompt_tokens", "384.25"}};
  CHECK(gate_run(run).from.prompt_tokens == "384");
  const auto outcome = [](const std::string& of_expected, const std::string& given) {
    Expectations ten = on_h200({expected("tpot_ms", 10)});
    ten.hardware[0].list[0].from.prompt_tokens = of_expected;
    GateRun one = run_with("a", 10);
    one.from.prompt_tokens = given;
    return only_line(ten, {one}).outcome;
  };
  CHECK(outcome("384.25", "384") == GateOutcome::kMet);  // as files have it that were written before
  CHECK(outcome("384", "400") == GateOutcome::kMet);
  CHECK(outcome("384", "366") == GateOutcome::kMet);
  CHECK(outcome("384", "410") == GateOutcome::kMissing);
  CHECK(outcome("384", "256") == GateOutcome::kMissing);
  CHECK(outcome("a few", "256") == GateOutcome::kMissing);
}

TEST_CASE("gate: five runs that agree decide what one cannot, and the ledger may say how much runs differ") {
  const Expectations ten = on_h200({expected("tpot_ms", 10)});
  std::vector<GateRun> runs;
  for (const double value : {11.28, 11.3, 11.31, 11.29, 11.32}) runs.push_back(run_with("r" + std::to_string(runs.size()), value));
  CHECK(only_line(ten, {runs[0]}).outcome == GateOutcome::kUndecided);
  CHECK(only_line(ten, runs).outcome == GateOutcome::kRegressed);
  const auto quiet = [](const std::string& metric) {
    CHECK(metric == "tpot_ms");
    return std::optional(Wander{0.003, 60});
  };
  CHECK(judge(ten, {runs[0]}, quiet)[0].lines[0].outcome == GateOutcome::kRegressed);
}

TEST_CASE("gate: what is undecided passes, unless it is to be strict") {
  GateReport report;
  report.results = judge(on_h200({expected("tpot_ms", 10)}), {run_with("a", 10.9)});
  CHECK(report.passed());
  report.strict = true;
  CHECK_FALSE(report.passed());
}

TEST_CASE("gate: many metrics share the 5 %, so that each has a wider interval") {
  const Expectations one = on_h200({expected("tpot_ms", 10)}), two = on_h200({expected("tpot_ms", 10), expected("tokens_per_s", 100)});
  const auto likely = [](const Expectations& file) { return *judge(file, {run_with("a", 11, 100)})[0].lines[0].likely_high; };
  CHECK(likely(two) > likely(one));
}
