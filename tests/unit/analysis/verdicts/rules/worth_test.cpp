#include "analysis/verdicts/rules/worth.h"

#include "analysis/verdicts/rules/judge.h"
#include "model/error.h"
#include "tests/catch.h"
#include "tests/unit/analysis/into_run.h"
#include "tests/unit/analysis/verdicts/rules/made_rule.h"

using namespace nl;
using namespace nl::analysis;

namespace {

RuleSpec worth_rule(RuleScope scope, const char* gain) {
  return nl::test::made_rule(scope, scope == RuleScope::kKernel ? "calls > 0" : "total_time > 0", gain);
}

// 20 steps of 100 ns, of which the GPU waits for launches 80.
Run waiting_run() {
  Run run;
  StageEntry& step = run.stages.emplace_back();
  step.name = "decode_step";
  step.wall = {20, 2000, 100, 100, 100, 100, 100, 0};
  step.budget = Budget{2000, 400, 0, 0, 0, 1600, 0, 0};
  run.phases.span_ns = 2000;
  run.phases.phases = {{"decode", 2000, step.budget}};
  run.coverage.kernel_sum_ns = 400;
  KernelEntry& kernel = run.kernels.emplace().emplace_back();
  kernel.name = "k";
  kernel.time = {20, 400, 20, 20, 20, 20, 20, 0};
  kernel.gpu_share = 1;
  return run;
}

Finding judged(const RuleSpec& spec, Run run) {
  nl::analysis::judge({{spec}}, run);
  REQUIRE(run.findings.size() == 1);
  return run.findings[0];
}

Finding worth_finding(const char* rule, Severity severity, double confidence, std::optional<double> share, const char* cause = "") {
  Finding finding;
  finding.rule = rule;
  finding.scope = RuleScope::kStage;
  finding.severity = severity;
  finding.confidence = confidence;
  finding.gain_share = share;
  finding.cause = cause;
  return finding;
}

std::string order_of(std::vector<Finding> findings) {
  rules::sort_by_worth(findings);
  std::string text;
  for (const Finding& finding : findings) text += finding.rule + (finding.same_cause_as.empty() ? " " : "<" + finding.same_cause_as + " ");
  return text;
}

}  // namespace

TEST_CASE("a faster kernel helps as far as the GPU does not wait for the host") {
  const Finding finding = judged(worth_rule(RuleScope::kKernel, "total_time"), waiting_run());
  CHECK(*finding.gain_ns == Approx(400 * 0.2));
  CHECK(*finding.gain_share == Approx(0.04));
  Run run = waiting_run();
  run.phases.phases[0].budget = Budget{2000, 400, 0, 1000, 100, 200, 300, 0};  // 600 of 2000 for the host
  CHECK(*judged(worth_rule(RuleScope::kKernel, "total_time"), run).gain_ns == Approx(400 * 0.7));
}

TEST_CASE("with a rank in each process, a kernel's gain is a part of its own GPU's time") {
  Run run = waiting_run();  // two ranks of 10 steps each; the kernel's time is that on GPU 1
  run.phases.phases[0].budget = Budget{2000, 2000, 0, 0, 0, 0, 0, 0};
  (*run.kernels)[0].device = 1;
  StageDevice gpu;
  gpu.budget.wall_ns = 1000;
  run.phases.devices = {gpu, gpu};
  run.phases.devices[1].device = 1;
  run.phases.devices[1].pid = 2;
  const Finding finding = judged(worth_rule(RuleScope::kKernel, "total_time"), run);
  CHECK(*finding.gain_ns == Approx(400));
  CHECK(*finding.gain_share == Approx(0.4));
  CHECK(*finding.gain_per_token_ns == Approx(40));
  // Two processes that share the GPU: their spans add up, and so do their kernels.
  run.phases.devices[0].device = 1;
  CHECK(*judged(worth_rule(RuleScope::kKernel, "total_time"), run).gain_share == Approx(0.2));
}

TEST_CASE("an operator's time on several GPUs of one process counts for one of them") {
  Run run = waiting_run();
  run.phases.phases[0].budget = Budget{2000, 2000, 0, 0, 0, 0, 0, 0};
  OperatorEntry& op = run.operators.emplace_back().entries.emplace_back();
  op.name = "aten::mm";
  op.total_ns = 1;
  op.cuda_total_ns = 800;
  StageDevice gpu;
  gpu.budget.wall_ns = 2000;
  run.phases.devices = {gpu, gpu};
  run.phases.devices[1].device = 1;
  CHECK(*judged(worth_rule(RuleScope::kOperator, "cuda_time"), run).gain_ns == Approx(400));
}

TEST_CASE("no kernel gets faster than its roofline") {
  Run run = waiting_run();
  run.phases.phases[0].budget = Budget{2000, 2000, 0, 0, 0, 0, 0, 0};
  NcuSample& sample = (*run.kernels)[0].ncu.emplace_back();
  sample.ncu_id = 7;
  RooflinePoint& point = run.roofline.points.emplace_back();
  point.ncu_id = 7;
  point.kernel = "k";
  point.roof_share = 0.9;
  CHECK(*judged(worth_rule(RuleScope::kKernel, "total_time"), run).gain_ns == Approx(40));
}

TEST_CASE("a gain is given per window and per token, without what profiling adds") {
  Run run = waiting_run();
  Finding finding = judged(worth_rule(RuleScope::kStage, "launch_starved_time"), run);
  CHECK(finding.gain_per_window_ns == 80.0);
  CHECK(finding.gain_per_token_ns == 80.0);
  CHECK_FALSE(finding.gain_unprofiled);
  run.perturbation.stages.push_back({PassKind::kNsys, "decode_step", {80}, {100}, 0.25, 0.2, 0.3, SlowdownVerdict::kOverLimit, "", ""});
  finding = judged(worth_rule(RuleScope::kStage, "launch_starved_time"), run);
  CHECK(finding.gain_per_window_ns == 60.0);  // 100 ns traced are 80 unprofiled
  CHECK(finding.gain_unprofiled);
  CHECK(finding.gain_ns == 1600.0);
  CHECK(judged(worth_rule(RuleScope::kRun, "launch_starved_time"), run).gain_per_token_ns == 80.0);
  // The GPU works 20 ns of a window: profiling adds nothing to that.
  CHECK(judged(worth_rule(RuleScope::kStage, "gpu_compute_time / 2"), run).gain_per_window_ns == 10.0);
  CHECK(judged(worth_rule(RuleScope::kStage, "gpu_compute_time"), run).gain_per_window_ns == 20.0);
  CHECK(judged(worth_rule(RuleScope::kStage, "gpu_compute_time + 200ns"), run).gain_per_window_ns ==
        20.0);  // 10 more, which are profiling's
}

TEST_CASE("high is what is worth 5 %, surely, with two pieces of evidence") {
  const auto severity = [](double share, double confidence, int held) {
    Finding finding = worth_finding("r", Severity::kInfo, confidence, share);
    finding.evidence.resize(3);
    for (int i = 0; i < 3; ++i) finding.evidence[static_cast<std::size_t>(i)].held = i < held;
    return rules::fitting_severity(Severity::kHigh, finding);
  };
  CHECK(severity(0.05, 0.81, 2) == Severity::kHigh);
  CHECK(severity(0.049, 0.81, 2) == Severity::kMedium);
  CHECK(severity(0.05, 0.8, 2) == Severity::kMedium);
  CHECK(severity(0.05, 0.81, 1) == Severity::kMedium);
  CHECK(severity(0.01, 0.9, 3) == Severity::kMedium);
  CHECK(severity(0.009, 0.9, 3) == Severity::kLow);
  Finding unknown = worth_finding("r", Severity::kInfo, 0.9, std::nullopt);
  unknown.evidence.resize(2);
  CHECK(rules::fitting_severity(Severity::kHigh, unknown) == Severity::kMedium);
  CHECK(rules::fitting_severity(Severity::kInfo, unknown) == Severity::kInfo);
}

TEST_CASE("findings: what is worth the most first, information later, the measurement last") {
  Finding measurement = worth_finding("measured", Severity::kMedium, 0.9, 0.9);
  measurement.about = RuleAbout::kMeasurement;
  CHECK(order_of({measurement, worth_finding("info", Severity::kInfo, 0.9, 0.9),
                  worth_finding("unknown", Severity::kMedium, 0.9, std::nullopt), worth_finding("surer", Severity::kMedium, 0.9, 0.4),
                  worth_finding("more", Severity::kMedium, 0.5, 0.5), worth_finding("less", Severity::kHigh, 0.9, 0.1),
                  worth_finding("low", Severity::kLow, 0.95, std::nullopt)}) == "surer more less unknown low info measured ");
}

TEST_CASE("a part points to the finding that it is a part of, where that stands in the end") {
  std::vector<Finding> findings = {worth_finding("a", Severity::kHigh, 1, 0.1, "x"), worth_finding("b", Severity::kHigh, 1, 0.3, "y"),
                                   worth_finding("c", Severity::kHigh, 1, 0.05, "y"), worth_finding("d", Severity::kHigh, 1, 0.4, "x"),
                                   worth_finding("e", Severity::kHigh, 1, 0.2, "")};
  rules::sort_by_worth(findings);
  std::string text;
  for (const Finding& finding : findings) text += finding.rule + finding.part_of + " ";
  CHECK(text == "d a/findings/0 b c/findings/2 e ");
}

TEST_CASE("a program that generates nothing saves nothing per token") {
  Run run = waiting_run();
  CHECK(judged(worth_rule(RuleScope::kRun, "launch_starved_time"), run).gain_per_token_ns.has_value());
  run.workload.verdict = {WorkloadKind::kTraining, 1, {}, "train_step"};
  for (const RuleScope scope : {RuleScope::kRun, RuleScope::kStage}) {
    const Finding finding = judged(worth_rule(scope, "launch_starved_time"), run);
    CHECK(finding.gain_ns.has_value());
    CHECK_FALSE(finding.gain_per_token_ns.has_value());
  }
}

TEST_CASE("findings of one cause follow the one that is worth the most") {
  CHECK(order_of({worth_finding("a", Severity::kHigh, 1, 0.1, "x"), worth_finding("b", Severity::kHigh, 1, 0.3, "y"),
                  worth_finding("c", Severity::kHigh, 1, 0.2, "z"), worth_finding("d", Severity::kHigh, 1, 0.05, "y"),
                  worth_finding("e", Severity::kHigh, 1, 0.4, "x")}) == "e a<e b d<b c ");
  std::vector<Finding> kernels = {worth_finding("a", Severity::kLow, 1, 0.1, "x"), worth_finding("b", Severity::kLow, 1, 0.2, "x")};
  for (Finding& each : kernels) each.scope = RuleScope::kKernel;
  kernels[0].subject = "k1";
  CHECK(order_of(kernels) == "b a ");  // two kernels that are slow for the same reason are two causes
  kernels[1].subject = "k1";
  CHECK(order_of(kernels) == "b a<b ");
}

TEST_CASE("the saving of a change that is predicted is the predicted one, and below 2 % it is no action") {
  RuleSpec rule = worth_rule(RuleScope::kStage, "1600");
  rule.predict = {{nl::test::rule_text("--graph {name}"), std::nullopt}};
  const Run run = waiting_run();
  std::string asked;
  const auto found = [&](double predicted_ns, std::optional<NoPrediction> refused = std::nullopt) {
    const Judgement judgement = judge(Rules{{rule}}, run, [&](const std::string& stage, const std::string& change) {
      asked = stage + ": " + change;
      Prediction prediction;
      prediction.stage = stage;
      prediction.unperturbed_ns = 80;  // without the tracer's part
      prediction.predicted_ns = predicted_ns;
      prediction.refused = refused;
      return std::optional(prediction);
    });
    REQUIRE(judgement.findings.size() == 1);
    return judgement.findings[0];
  };
  const Finding quarter = found(60);
  CHECK(asked == "decode_step: --graph decode_step");
  REQUIRE(quarter.prediction);
  CHECK(*quarter.gain_share == Approx(0.25));
  CHECK(*quarter.gain_ns == Approx(500));
  CHECK(*quarter.gain_per_window_ns == Approx(20));  // of the 80 that it takes without the tracer
  CHECK(quarter.gain_unprofiled);
  CHECK(found(79).severity == Severity::kInfo);
  CHECK(found(90).severity == Severity::kInfo);  // slower
  CHECK(*found(90).gain_share == 0);
  const Finding refused = found(0, NoPrediction::kNotReplayed);
  CHECK_FALSE(refused.prediction);
  CHECK(*refused.gain_share == Approx(0.8));  // the bound that the rule has
  for (const char* wrong : {"--grpah {name}", "--kernel gemm", "--host-speed fast"}) {
    rule.predict = {{nl::test::rule_text(wrong), std::nullopt}};
    CHECK_THROWS_AS(judge(Rules{{rule}}, run), Error);
  }
}

TEST_CASE("no change is predicted by a figure that was not captured") {
  RuleSpec rule = worth_rule(RuleScope::kKernel, "400");
  rule.predict = {{nl::test::rule_text("--kernel {name}={max(sm_use, dram_use):number}"), std::nullopt}};
  bool asked = false;
  const Judgement judgement = judge(Rules{{rule}}, waiting_run(), [&](const std::string&, const std::string&) {
    asked = true;
    return std::optional<Prediction>();
  });
  CHECK(judgement.findings.size() == 1);
  CHECK_FALSE(asked);
}
