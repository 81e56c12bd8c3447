#include "analysis/verdicts/rules/judge.h"
#include "tests/catch.h"
#include "tests/unit/analysis/into_run.h"
#include "tests/unit/analysis/verdicts/rules/made_rule.h"

using namespace nl;
using namespace nl::analysis;

namespace {

StageEntry stage_with_gaps(const char* name, std::uint64_t windows) {
  StageEntry stage;
  stage.name = name;
  stage.wall = {windows, static_cast<Ns>(100 * windows), 100, 100, 100, 100, 100, 0};
  stage.budget = Budget{static_cast<Ns>(100 * windows), 0, 0, 0, 0, static_cast<Ns>(40 * windows), 0, 0};
  return stage;
}

}  // namespace

TEST_CASE("a gain per token is that of decode alone: a step has one, a decode as many as it has steps, a prompt none") {
  const RuleSpec spec = nl::test::made_rule(RuleScope::kStage, "total_time > 0", "launch_starved_time");
  Run run;
  run.stages = {stage_with_gaps("prefill", 2), stage_with_gaps("decode", 2), stage_with_gaps("decode_step", 8)};
  judge({{spec}}, run);
  REQUIRE(run.findings.size() == 3);
  for (const Finding& finding : run.findings) {
    CAPTURE(finding.subject);
    CHECK(finding.gain_per_window_ns == 40.0);
    if (finding.subject == "prefill") CHECK_FALSE(finding.gain_per_token_ns.has_value());
    if (finding.subject == "decode") CHECK(finding.gain_per_token_ns == 10.0);
    if (finding.subject == "decode_step") CHECK(finding.gain_per_token_ns == 40.0);
  }
}

TEST_CASE("a gain is that of an unprofiled window only where profiling is known to make it slower") {
  const auto judged_with = [](std::optional<double> slowdown) {
    RuleSpec spec = nl::test::made_rule(RuleScope::kStage, "total_time > 0", "launch_starved_time");
    spec.name = "named";
    Run run;
    run.stages = {stage_with_gaps("prefill", 2)};
    StageSlowdown& stage = run.perturbation.stages.emplace_back();
    stage.stage = "prefill";
    stage.slowdown = slowdown;
    judge({{spec}}, run);
    judge({{spec}}, run);  // again: what was found before is replaced
    REQUIRE(run.findings.size() == 1);
    return run.findings[0];
  };
  for (const std::optional<double> slowdown : {std::optional<double>(), std::optional(0.0), std::optional(-0.1)}) {
    const Finding finding = judged_with(slowdown);
    CHECK(finding.rule == "named");
    CHECK(finding.gain_per_window_ns == 40.0);
    CHECK_FALSE(finding.gain_unprofiled);
  }
  CHECK(judged_with(0.25).gain_per_window_ns == 20.0);  // 100 ns are 80 unprofiled
  CHECK(judged_with(0.25).gain_unprofiled);
  CHECK(judged_with(4.0).gain_per_window_ns == 0.0);  // never less than nothing
}

TEST_CASE("judging again forgets what was not judged before") {
  RuleSpec spec = nl::test::made_rule(RuleScope::kStage, "mfu > 0");
  spec.name = "needs a model";
  Run run;
  run.stages = {stage_with_gaps("prefill", 2)};
  for (int i = 0; i < 2; ++i) {
    judge({{spec}}, run);
    CHECK(run.findings.empty());
    REQUIRE(run.abstentions.size() == 1);
    CHECK(run.abstentions[0].rule == "needs a model");
  }
}
