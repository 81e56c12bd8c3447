#include "analysis/verdicts/rules/judge.h"

#include "model/error.h"
#include "tests/catch.h"
#include "tests/unit/analysis/into_run.h"
#include "tests/unit/analysis/verdicts/rules/made_rule.h"

using namespace nl;
using namespace nl::analysis;

namespace {

RuleText text(const char* words) { return nl::test::rule_text(words); }

RuleSpec rule(RuleScope scope, const char* condition) { return nl::test::made_rule(scope, condition, {}, Severity::kMedium); }

Run staged_run() {
  Run run;
  for (const char* name : {"prefill", "decode"}) {
    StageEntry& stage = run.stages.emplace_back();
    stage.name = name;
    stage.wall = {1, 1000, 1000, 1000, 1000, 1000, 1000, 0};
    stage.budget = Budget{1000, 400, 0, 0, 0, 600, 0, 0};
    stage.longest_window_start_ns = 10;
    stage.longest_window_end_ns = 1010;
  }
  run.phases.span_ns = 4000;
  run.workload.command = {"python", "my model.py"};
  return run;
}

void add_kernels(Run& run, int count) {
  run.kernels.emplace();
  for (int i = 0; i < count; ++i) {
    KernelEntry& kernel = run.kernels->emplace_back();
    kernel.name = "k" + std::to_string(i);
    kernel.time = {10, 100 + i, 10, 10, 10, 10, 10, 0};
    kernel.gpu_share = 1.0 / count;
  }
}

}  // namespace

TEST_CASE("a request that has stages inside is not judged beside them, one without is") {
  Run run = staged_run();
  StageEntry request = run.stages[0];
  request.name = "request";
  run.stages.push_back(request);
  judge({{rule(RuleScope::kStage, "launch_wait_share > 50%")}}, run);
  REQUIRE(run.findings.size() == 2);
  for (const Finding& finding : run.findings) CHECK(finding.subject != "request");
  Run alone;
  alone.stages = {request};
  judge({{rule(RuleScope::kStage, "launch_wait_share > 50%")}}, alone);
  REQUIRE(alone.findings.size() == 1);
  CHECK(alone.findings[0].subject == "request");
}

TEST_CASE("a rule whose inputs were not captured abstains, and names the command that captures them") {
  Run run = staged_run();
  add_kernels(run, 3);
  judge({{rule(RuleScope::kKernel, "occupancy < 25% and sm_use < 60%")}}, run);
  CHECK(run.findings.empty());
  REQUIRE(run.abstentions.size() == 1);
  CHECK(run.abstentions[0].rule == "r");
  CHECK(run.abstentions[0].scope == RuleScope::kKernel);
  CHECK(run.abstentions[0].missing == std::vector<std::string>{"occupancy", "sm_use"});
  CHECK(run.abstentions[0].why == "needs kernel counters (ncu or the collector)");
  CHECK(run.abstentions[0].command == "nl-stage run --config deep -- python 'my model.py'");
}

TEST_CASE("a kernel that runs only in warm-up is not judged, and the others by their time in measured windows") {
  Run run = staged_run();
  add_kernels(run, 3);
  run.kernels->at(0).time.total_ns = 9000;
  run.kernels->at(0).stages = {{"decode", 9000, 10}};
  run.kernels->at(1).stages = {{"decode", 101, 10}};
  run.kernels->at(1).measured = {{"decode", 30, 3}};
  run.kernels->at(2).stages = {{"decode", 102, 10}};
  run.kernels->at(2).measured = {{"decode", 90, 9}};
  RuleSpec spec = rule(RuleScope::kKernel, "gpu_share > 1%");
  spec.message = text("{name}: {gpu_share}, {measured_time}");
  spec.gain = text("total_time");
  judge({{spec}}, run);
  REQUIRE(run.findings.size() == 2);
  CHECK(run.findings[0].message == "k2: 75 %, 90.0 ns");
  CHECK(run.findings[1].message == "k1: 25 %, 30.0 ns");
  CHECK(run.findings[0].evidence.at(0).reference == "/kernels/2");
  CHECK(*run.findings[0].gain_ns / *run.findings[1].gain_ns == Approx(3));
}

TEST_CASE("where a part of the trace is missing, shares of it and what is absent from it decide nothing") {
  for (const Code code : kCaptureIncomplete) {
    Run run = staged_run();
    add_kernels(run, 3);
    NcuSample& sample = run.kernels->at(0).ncu.emplace_back();
    sample.metrics["sm__cycles_active.avg"] = 5;
    run.problems.push_back({code, "cut", "nvtx-7.nltrace", "", ErrorKind::kCapture});
    judge({{rule(RuleScope::kStage, "launch_wait_share > 50%"), rule(RuleScope::kKernel, "gpu_share > 1%"),
            rule(RuleScope::kKernel, "metric(\"sm__cycles_active.avg\") > 1"),
            rule(RuleScope::kStage, "windows >= 1 or graph_launches == 0")}},
          run);
    CHECK(run.findings.size() == 3);  // of the counters, and of the windows of two stages
    REQUIRE(run.abstentions.size() == 2);
    for (const Abstention& abstention : run.abstentions) CHECK(abstention.why == "needs the whole trace: a part of it is missing");
    CHECK(run.abstentions[0].missing == std::vector<std::string>{"launch_wait_share"});
  }
}

TEST_CASE("what each kind of missing input is captured with") {
  const auto command = [](RuleScope scope, const char* condition, Run run = staged_run()) {
    judge({{rule(scope, condition)}}, run);
    REQUIRE(run.abstentions.size() == 1);
    return run.abstentions[0].command;
  };
  CHECK(command(RuleScope::kStage, "mfu < 30%") == "nl-stage run --config light --model MODEL.yaml -- python 'my model.py'");
  CHECK(command(RuleScope::kStage, "slowdown > 10%") == "nl-stage run --config deep -- python 'my model.py'");
  CHECK(command(RuleScope::kStage, "slowdown > 10% and counted_dram_use > 1%") == "nl-stage run --config cupti -- python 'my model.py'");
  CHECK(command(RuleScope::kRun, "throttled_share > 1%") == "nl-stage run --config deep -- python 'my model.py'");
  CHECK(command(RuleScope::kKernel, "calls > 1") == "nl-stage run --config light -- python 'my model.py'");
  CHECK(command(RuleScope::kOperator, "calls > 1") ==
        "nl-stage run --config light --set nsys.pytorch=autograd-shapes-nvtx -- python 'my model.py'");
  CHECK(command(RuleScope::kStage, "total_time > 1", Run()) == "nl-stage run --config light -- ./your_workload");
  Run shaped = staged_run();
  shaped.model.attributes = {{"layers", "32"}, {"batch_size", "1"}};
  CHECK(command(RuleScope::kStage, "mfu < 30%", shaped) ==
        "nl-stage run --config light --set model.prompt_tokens=N --set model.decode_tokens=N -- python 'my model.py'");
  Run bare = staged_run();
  for (auto& stage : bare.stages) stage.budget.reset();
  judge({{rule(RuleScope::kStage, "gpu_idle_share > 10%")}}, bare);
  REQUIRE(bare.abstentions.size() == 1);  // once, not once for each stage
  CHECK(bare.abstentions[0].missing == std::vector<std::string>{"gpu_idle_share"});
}

TEST_CASE("a rule that can be judged somewhere does not abstain for the rest") {
  Run run = staged_run();
  add_kernels(run, 3);
  NcuSample& sample = (*run.kernels)[1].ncu.emplace_back();
  sample.values[Metric::kOccupancy] = 90;
  judge({{rule(RuleScope::kKernel, "occupancy < 25%")}}, run);
  CHECK(run.findings.empty());
  CHECK(run.abstentions.empty());
  sample.values[Metric::kOccupancy] = 10;
  judge({{rule(RuleScope::kKernel, "occupancy < 25%")}}, run);
  REQUIRE(run.findings.size() == 1);
  CHECK(run.findings[0].subject == "k1");
  CHECK(run.findings[0].evidence[0].reference == "/kernels/1/ncu/0");
}

TEST_CASE("nothing to judge is no abstention: no such stage, no kernels that ran") {
  Run run = staged_run();
  run.kernels.emplace();
  RuleSpec steps = rule(RuleScope::kStage, "mfu < 30%");
  steps.where = text("kind == \"step\"");
  judge({{steps, rule(RuleScope::kKernel, "occupancy < 25%")}}, run);
  CHECK(run.findings.empty());
  CHECK(run.abstentions.empty());
}

TEST_CASE("a window without kernels is not well utilised, and not badly either: it has no such figures") {
  Run run = staged_run();
  run.stages[0].budget = Budget{1000, 0, 0, 0, 0, 0, 1000, 0};
  run.stages[0].activity.emplace();
  run.stages.pop_back();
  for (const char* condition : {"mean_kernel_time > 0", "mean_kernel_time <= 0", "gemm_share >= 0", "graph_kernel_share < 50%",
                                "overlap >= 0", "gpu_compute_share > 0", "gpu_idle_share < 100%", "mfu_busy > 0"}) {
    CAPTURE(condition);
    judge({{rule(RuleScope::kStage, condition)}}, run);
    CHECK(run.findings.empty());
  }
  judge({{rule(RuleScope::kStage, "gpu_compute_time == 0 and gpu_idle_share == 100%")}}, run);
  CHECK(run.findings.size() == 1);
}

TEST_CASE("evidence weighs, and what was not captured counts as not held") {
  RuleSpec spec = rule(RuleScope::kStage, "launch_wait_share > 50%");
  spec.where = text("kind == \"decode\"");
  spec.evidence = {{text("gpu_compute_share < 60%"), text("computes {gpu_compute_share}"), 2},
                   {text("sync_share > 10%"), text("waits {sync_share}"), 1},
                   {text("mfu < 30%"), text("MFU {mfu}"), 1}};
  Run run = staged_run();
  judge({{spec}}, run);
  REQUIRE(run.findings.size() == 1);
  const Finding& finding = run.findings[0];
  CHECK(finding.confidence == Approx(3.0 / 6.0));  // (1 + 2) of (2 + 2 + 1 + 1)
  REQUIRE(finding.evidence.size() == 3);
  CHECK(finding.evidence[0].held);
  CHECK(finding.evidence[0].text == "computes 40 %");
  CHECK(finding.evidence[0].reference == "/stages/1/budget");
  CHECK(finding.evidence[0].window_start_ns == 10);
  CHECK(finding.evidence[0].window_end_ns == 1010);
  CHECK_FALSE(finding.evidence[1].held);
  CHECK(finding.evidence[1].known);
  CHECK_FALSE(finding.evidence[2].held);
  CHECK_FALSE(finding.evidence[2].known);
  CHECK(finding.evidence[2].text == "not checked (mfu not captured): MFU not captured");
}

TEST_CASE("more evidence makes surer") {
  double before = 0;
  RuleSpec spec = rule(RuleScope::kStage, "launch_wait_share > 50%");
  for (int pieces = 0; pieces < 5; ++pieces) {
    Run run = staged_run();
    judge({{spec}}, run);
    REQUIRE(!run.findings.empty());
    CHECK(run.findings[0].confidence > before);
    before = run.findings[0].confidence;
    spec.evidence.push_back({text("gpu_compute_share < 60%"), text("t"), 1});
  }
}

TEST_CASE("a gap leads to the moment it began") {
  RuleSpec spec = rule(RuleScope::kStage, "longest_gap > 100ns");
  Run run = staged_run();
  run.stages[1].activity.emplace();
  run.stages[1].activity->longest_gap_ns = 300;
  run.stages[1].activity->longest_gap_at_ns = 500;
  judge({{spec}}, run);
  REQUIRE(run.findings.size() == 1);
  CHECK(run.findings[0].evidence[0].window_start_ns == 500);
  CHECK(run.findings[0].evidence[0].window_end_ns == 800);
}

TEST_CASE("gains are part of the time they are taken from, and of the run") {
  RuleSpec spec = rule(RuleScope::kStage, "launch_wait_share > 50%");
  const auto gain = [&](const char* expression) {
    spec.gain = text(expression);
    Run run = staged_run();
    judge({{spec}}, run);
    REQUIRE(run.findings.size() == 2);
    return run.findings[0];
  };
  CHECK(gain("launch_starved_time").gain_ns == 600.0);
  CHECK(gain("launch_starved_time").gain_share == 0.15);
  CHECK(gain("total_time * 10").gain_ns == 1000.0);
  CHECK(gain("-5").gain_ns == 0.0);
  CHECK_FALSE(gain("total_time * mfu").gain_ns.has_value());
  CHECK(gain("total_time * mfu").gain_note == "no estimate: mfu not captured");
  CHECK_FALSE(gain("total_time / 0").gain_ns.has_value());
}

TEST_CASE("a kernel's gain is scaled to the measured iterations") {
  Run run = staged_run();
  add_kernels(run, 1);
  run.coverage.kernel_sum_ns = 1600;  // warm-up and all; 800 of it in the phases
  run.phases.phases = {{"prefill", 1000, run.stages[0].budget}, {"decode", 1000, run.stages[1].budget}};
  RuleSpec spec = rule(RuleScope::kKernel, "calls > 1");
  spec.gain = text("total_time");
  judge({{spec}}, run);
  REQUIRE(run.findings.size() == 1);
  CHECK(*run.findings[0].gain_ns == Approx(50.0 * 0.4));  // the GPU waits for launches six tenths of the time
}

TEST_CASE("the ones with the most to gain are kept, and those that ask for nothing come last") {
  Run run = staged_run();
  add_kernels(run, 10);
  RuleSpec low = rule(RuleScope::kKernel, "calls > 1");
  low.severity = {{text("total_time >= 109ns"), Severity::kHigh}, {std::nullopt, Severity::kInfo}};
  low.gain = text("total_time / 2");
  RuleSpec medium = rule(RuleScope::kStage, "launch_wait_share > 50%");
  medium.name = "s";
  medium.limit = 1;
  judge({{low, medium}}, run);
  std::vector<std::string> order;
  for (const Finding& finding : run.findings) order.push_back(finding.subject);
  CHECK(order == std::vector<std::string>{"k9", "prefill", "k8", "k7"});
}

TEST_CASE("judging again replaces what was judged before, and a rule that cannot be read is an error") {
  Run run = staged_run();
  const Rules rules{{rule(RuleScope::kStage, "launch_wait_share > 50%")}};
  judge(rules, run);
  judge(rules, run);
  CHECK(run.findings.size() == 2);
  CHECK_THROWS_AS(judge({{rule(RuleScope::kStage, "no_such_field > 1")}}, run), Error);
}

TEST_CASE("a sentence about a stage that no range marks says so, a condition asks for the name alone") {
  nl::Run run;
  nl::StageEntry& step = run.stages.emplace_back();
  step.name = "decode_step";
  step.wall = {2, 200, 100, 100, 100, 100, 100, 0};
  nl::RuleSpec spec = nl::test::made_rule(nl::RuleScope::kStage, "name == \"decode_step\"");
  spec.message = nl::test::rule_text("{name} takes {mean_time}");
  nl::analysis::judge({{spec}}, run);
  REQUIRE(run.findings.size() == 1);
  CHECK(run.findings[0].message == "decode_step takes 100 ns");
  step.source = nl::StageSource::kInferred;
  nl::analysis::judge({{spec}}, run);
  REQUIRE(run.findings.size() == 1);
  CHECK(run.findings[0].message == "decode_step (inferred) takes 100 ns");
  CHECK(run.findings[0].subject == "decode_step");
}

TEST_CASE("a stage has a kind by its name") {
  std::string kinds;
  for (const char* name : {"prefill", "decode", "decode_step", "request", "capture", "sampling"}) {
    Run run;
    run.stages.emplace_back().name = name;
    for (const char* kind : {"prefill", "decode", "step", "request", "capture", "other"}) {
      judge({{nl::test::made_rule(RuleScope::kStage, std::string("kind == \"") + kind + "\"")}}, run);
      for (const Finding& finding : run.findings) kinds += std::string(kind) + " " + finding.subject + ", ";
    }
  }
  CHECK(kinds == "prefill prefill, decode decode, step decode_step, request request, capture capture, other sampling, ");
}
