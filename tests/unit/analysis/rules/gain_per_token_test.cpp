#include "analysis/rules/judge.h"
#include "tests/catch.h"

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
  RuleSpec spec;
  spec.name = "r";
  spec.scope = RuleScope::kStage;
  spec.condition = {"total_time > 0", 1, 1};
  spec.severity = {{std::nullopt, Severity::kHigh}};
  spec.message = {"m", 1, 1};
  spec.suggestions = {{{"a", 1, 1}}};
  spec.gain = RuleText{"launch_starved_time", 1, 1};
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
