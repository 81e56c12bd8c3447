#include "analysis/verdicts/rules/judge.h"

#include <limits>

#include "tests/catch.h"

namespace {

nl::Finding rule_finding(const char* rule, nl::Severity severity, nl::RuleAbout about = nl::RuleAbout::kWorkload) {
  nl::Finding out;
  out.rule = rule;
  out.severity = severity;
  out.about = about;
  return out;
}

nl::StageEfficiency shares_of_peak(const char* stage, double mfu, double mbu) {
  nl::StageEfficiency out;
  out.stage = stage;
  out.mfu = mfu;
  out.mbu = mbu;
  return out;
}

nl::StageEntry timed_windows(const char* name, std::uint64_t count, double mean_ns) {
  nl::StageEntry out;
  out.name = name;
  out.wall.count = count;
  out.wall.mean_ns = out.wall.median_ns = mean_ns;
  return out;
}

}  // namespace

TEST_CASE("of an empty run nothing is known") {
  const nl::RunSummary none = nl::analysis::run_summary({});
  for (const char* key : {"ttft_ms", "tpot_ms", "tpot_unprofiled_ms", "tokens_per_s", "gpu_busy_share", "mfu", "mbu", "joules_per_token"})
    CHECK(none.figures[key] == std::nullopt);
  CHECK(none.top_finding.empty());
}

TEST_CASE("each figure of the summary is that of its source") {
  nl::Run run;
  run.stages = {timed_windows("prefill", 1, 10e6), timed_windows("decode", 1, 30e6)};
  run.latency.ttft.emplace();
  run.latency.ttft->count = 2;
  run.latency.ttft->mean_ns = 12.5e6;
  run.latency.tpot.emplace();
  run.latency.tpot->count = 8;
  run.latency.tpot->mean_ns = 4e6;
  run.latency.output_tokens_per_s = 250;
  nl::StageSlowdown slowdown;  // unprofiled, decode takes 24 ms of 30
  slowdown.stage = "decode";
  slowdown.profiler = nl::PassKind::kNsys;
  slowdown.bare_ns = {24e6};
  run.perturbation.stages = {slowdown};
  nl::Budget budget;
  budget.wall_ns = 100;
  budget.gpu_compute_ns = 40;
  run.phases.phases = {{"decode", 100, budget}};
  run.efficiency = {shares_of_peak("prefill", 0.4, 0.1), shares_of_peak("decode", 0.02, 0.5)};
  run.energy.stages = {{"decode", {}, 0.25, {}, 4, ""}};
  run.findings = {rule_finding("about-the-run", nl::Severity::kHigh, nl::RuleAbout::kMeasurement),
                  rule_finding("good-to-know", nl::Severity::kInfo), rule_finding("launch-bound", nl::Severity::kLow)};
  const nl::RunSummary summary = nl::analysis::run_summary(run);
  CHECK(summary.figures["ttft_ms"] == 12.5);
  CHECK(summary.figures["tpot_ms"] == 4);
  CHECK(summary.figures["tpot_unprofiled_ms"].value() == Approx(3.2));
  CHECK(summary.figures["tokens_per_s"] == 250);
  CHECK(summary.figures["gpu_busy_share"].value() == Approx(0.4));
  CHECK(summary.figures["mfu"].value() == Approx((0.4 * 10 + 0.02 * 30) / 40));
  CHECK(summary.figures["mbu"].value() == Approx((0.1 * 10 + 0.5 * 30) / 40));
  CHECK(summary.figures["joules_per_token"] == 0.25);
  CHECK(summary.top_finding == "launch-bound");
}

TEST_CASE("a figure that is no number is not known") {
  nl::Run run;
  run.latency.output_tokens_per_s = std::numeric_limits<double>::infinity();
  CHECK(nl::analysis::run_summary(run).figures["tokens_per_s"] == std::nullopt);
}
