#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "exporters/run_json/run_json.h"
#include "tests/catch.h"
#include "tests/unit/analysis/into_run.h"
#include "tests/unit/orchestrator/config/rule_cases.h"

using namespace nl;
using namespace nl::analysis;
using namespace nl::exporters;
using namespace nl::test;

TEST_CASE("no shipped rule speaks about a healthy run, and none abstains") {
  Run run = healthy_run();
  judge(parsed_shipped(), run);
  CHECK(rules_of(run) == "");
  for (const Abstention& abstention : run.abstentions) CHECK(abstention.rule == "");
}

TEST_CASE("every shipped rule fires on its fault, and not just short of it") {
  std::set<std::string> tested;
  for (const RuleCase& each : rule_cases()) {
    CAPTURE(each.rule);
    tested.insert(each.rule);
    Run run = healthy_run();
    each.fire(run);
    judge(parsed_shipped(), run);
    const Finding* finding = find(run, each.rule, each.subject);
    CAPTURE(rules_of(run));
    REQUIRE(finding);
    CHECK(finding->confidence >= 0.1);
    CHECK(finding->confidence < 1);
    CHECK(finding->suggestions.size() >= 3);
    CHECK(finding->message.find("not captured") == std::string::npos);
    CHECK(finding->message.find_first_of("{}") == std::string::npos);
    CHECK(finding->plain.find("not captured") == std::string::npos);
    CHECK(finding->plain.find_first_of("{}") == std::string::npos);
    CHECK((finding->gain_ns.has_value() || !finding->gain_note.empty()));
    Run missed = healthy_run();
    each.miss(missed);
    judge(parsed_shipped(), missed);
    CAPTURE(rules_of(missed));
    CHECK(find(missed, each.rule, each.subject) == nullptr);
  }
  for (const RuleSpec& rule : shipped().list) {
    CAPTURE(rule.name);
    CHECK(tested.count(rule.name) == 1);
    CHECK(rule.evidence.size() >= 2);
  }
  CHECK(shipped().list.size() >= 24);
}

TEST_CASE("few samples are no finding, and rules that need them say so") {
  Run run = healthy_run();
  sampled_host(run, HostWork::kTokenizer, 15).samples = 19;
  judge(parsed_shipped(), run);
  CHECK(find(run, "tokenizer_delays_gpu", kStep) == nullptr);
  const auto abstains = [&](const char* rule) {
    return std::any_of(run.abstentions.begin(), run.abstentions.end(), [&](const Abstention& each) { return each.rule == rule; });
  };
  CHECK_FALSE(abstains("tokenizer_delays_gpu"));  // known not to matter for prefill
  for (StageEntry& each : run.stages) spend(run, each.name.c_str(), &Budget::launch_starved_ns, 0.10);
  judge(parsed_shipped(), run);
  CHECK(abstains("tokenizer_delays_gpu"));
}

TEST_CASE("a stage that waits for launches says at which line the host is, where somebody looked") {
  for (const bool sampled : {false, true}) {
    Run run = healthy_run();
    if (sampled) sampled_host(run, HostWork::kOther, 30);
    spend(run, kStep, &Budget::launch_starved_ns, sampled ? 0.20 : 0.40);
    judge(parsed_shipped(), run);
    const Finding* finding = find(run, "launch_bound_decode", kStep);
    REQUIRE(finding);
    const bool names_line = std::any_of(finding->evidence.begin(), finding->evidence.end(), [](const nl::FindingEvidence& each) {
      return each.text == "the host is mostly in step (gen.py:12) meanwhile, 30 % of the time" && each.held;
    });
    CHECK(names_line == sampled);
    CHECK(finding->evidence.size() == (sampled ? 5 : 4));  // without samples nothing is missed
  }
}

TEST_CASE("what tracing costs is judged whoever traced; that ncu is slow is no finding") {
  for (const auto& [profiler, speaks] :
       {std::pair(PassKind::kNsys, true), std::pair(PassKind::kCollector, true), std::pair(PassKind::kNcu, false)}) {
    CAPTURE(profiler);
    Run run = healthy_run();
    for (StageSlowdown& row : run.perturbation.stages)
      row = {profiler, row.stage, {1}, {1}, 0.18, 0.17, 0.19, nl::SlowdownVerdict::kOverLimit, "", ""};
    judge(parsed_shipped(), run);
    CHECK((find(run, "profiler_perturbation", "prefill") != nullptr) == speaks);
  }
}

TEST_CASE("where ranges end before their GPU work does, slower launches are no great matter") {
  for (const bool runs_on : {false, true}) {
    Run run = healthy_run();
    run.perturbation.stages[0].slowdown = 5.0, run.perturbation.stages[0].low = 2.6;
    StageEntry& prefill = run.stages[0];
    prefill.gpu_busy_ns = static_cast<Ns>(static_cast<double>(prefill.wall.total_ns) * (runs_on ? 1.1 : 0.9));
    judge(parsed_shipped(), run);
    const Finding* finding = find(run, "profiler_perturbation", "prefill");
    REQUIRE(finding != nullptr);
    CHECK(finding->severity == (runs_on ? Severity::kLow : Severity::kMedium));
  }
}

TEST_CASE("without stages a GEMM is judged by its intensity, and one that reads its operands once is not said to read them again") {
  const auto judged = [&](std::optional<double> intensity) {
    Run run = healthy_run();
    run.stages.clear();
    run.phases = {};
    for (KernelEntry& each : *run.kernels) each.stages = {{"none", each.time.total_ns, each.time.count}};
    refetched(run, 1);
    sample_of(run, 0).values[nl::Metric::kTensor] = 2.6;
    if (intensity) {
      RooflinePoint& point = run.roofline.points.emplace_back();
      point.kernel = kGemm;
      point.ncu_id = 7;
      point.intensity = *intensity;
    }
    judge(parsed_shipped(), run);
    return run;
  };
  const char* const tensor = "gemm_low_tensor_use";
  CHECK(find(judged(2), tensor, kGemm) == nullptr);  // a product of one row: the weights are read once
  CHECK(find(judged(200), tensor, kGemm) != nullptr);
  const Run unknown = judged({});
  CHECK(find(unknown, tensor, kGemm) == nullptr);
  const auto abstained =
      std::find_if(unknown.abstentions.begin(), unknown.abstentions.end(), [&](const Abstention& each) { return each.rule == tensor; });
  REQUIRE(abstained != unknown.abstentions.end());
  CHECK(abstained->missing == std::vector<std::string>{"intensity"});
  for (const double intensity : {2.0, 200.0}) CHECK(find(judged(intensity), "poor_l2_locality", kGemm) == nullptr);
}

TEST_CASE("bytes of which nobody knows whether they are read again: nothing is said of locality") {
  Run run = healthy_run();
  refetched(run, 100);
  run.operators.clear();
  judge(parsed_shipped(), run);
  CHECK(find(run, "poor_l2_locality", kGemm) == nullptr);
}

TEST_CASE("windows of a host that runs ahead say nothing about jitter") {
  Run run = healthy_run();
  StageEntry& step = stage(run, kStep);
  step.wall.p95_ns = 7500001;
  step.foreign_gpu_ns = step.budget->wall_ns;
  step.budget->gpu_compute_ns = step.budget->wall_ns;
  judge(parsed_shipped(), run);
  CHECK(find(run, "step_jitter", kStep) == nullptr);
}

TEST_CASE("the process that works leads, not those that wait for it") {
  Run run = healthy_run();
  own_gap(run, 20000000);
  StageEntry& step = stage(run, kStep);
  step.gaps[0].windows = step.wall.count / 2;
  step.gaps[0].mean_ns *= 2;
  StageGap waits = step.gaps[0];
  waits.budget.wall_ns = waits.not_launching_ns = 22000000;
  waits.host->kind = HostWork::kExchange;
  waits.host->function->function = "wait_for_all";
  step.gaps.insert(step.gaps.begin(), waits);
  judge(parsed_shipped(), run);
  const Finding* finding = find(run, "recurring_gap", kStep);
  REQUIRE(finding != nullptr);
  CHECK(finding->action.starts_with("Shorten check"));
  CHECK(finding->plain.ends_with("the other processes wait for it."));
  CHECK(*finding->gain_ns > 39000000);  // its own time, and as much of the others' wait
  CHECK(*finding->gain_ns < 41000000);
  SECTION("where all of them only exchange data, that is the cause") {
    run.findings.clear();
    stage(run, kStep).gaps.pop_back();
    judge(parsed_shipped(), run);
    const Finding* exchange = find(run, "recurring_gap", kStep);
    REQUIRE(exchange != nullptr);
    CHECK(exchange->action.starts_with("Exchange the data on the GPU"));
  }
}

TEST_CASE("jitter is told by 1 % of the windows from 100 on, by 5 % from 20 on, and not at all below") {
  const auto told = [&](std::uint64_t windows, std::optional<Ns> p95_ns, std::optional<Ns> p99_ns) -> std::string {
    Run run = healthy_run();
    TimeSummary& wall = stage(run, kStep).wall;
    wall.count = windows;
    wall.p95_ns = p95_ns;
    wall.p99_ns = p99_ns;
    judge(parsed_shipped(), run);
    const nl::Finding* finding = find(run, "step_jitter", kStep);
    return finding == nullptr ? "" : finding->message;
  };
  CHECK(told(99, 5000000, 9000000) == "");  // of an older format: a p99 of so few is the longest
  CHECK(told(100, 5000000, 9000000) == "decode_step takes 5.00 ms (median), but 1.0 % of its windows take 9.00 ms or more.");
  CHECK(told(20, 9000000, {}) == "decode_step takes 5.00 ms (median), but 5.0 % of its windows take 9.00 ms or more.");
  CHECK(told(19, {}, 9000000) == "");
}

TEST_CASE("ranges that end before their GPU work say nothing about jitter or a slow first step") {
  for (const bool runs_on : {false, true}) {
    CAPTURE(runs_on);
    Run run = healthy_run();
    StageEntry& step = stage(run, kStep);
    step.wall.p95_ns = 7500001;
    step.first_in_iteration_ns = 7600000;
    if (runs_on) step.gpu_busy_ns = 2 * step.wall.total_ns;
    judge(parsed_shipped(), run);
    CHECK((find(run, "step_jitter", kStep) == nullptr) == runs_on);
    CHECK((find(run, "slow_first_step", kStep) == nullptr) == runs_on);
    // Without a GPU in the capture windows are all there is.
    Run host = healthy_run();
    stage(host, kStep).wall.p95_ns = 7500001;
    for (StageEntry& each : host.stages) each.gpu_busy_ns.reset(), each.budget.reset(), each.activity.reset();
    judge(parsed_shipped(), host);
    CHECK(find(host, "step_jitter", kStep) != nullptr);
  }
}

TEST_CASE("a failure comes before everything else, whatever that would save") {
  Run run = healthy_run();
  spend(run, kStep, &Budget::launch_starved_ns, 0.60);
  ended_badly(run, Code::kWorkloadOutOfMemory);
  judge(parsed_shipped(), run);
  REQUIRE(run.findings.size() >= 2);
  CHECK(run.findings[0].rule == "workload_failed");
  CHECK(run.findings[0].severity == Severity::kHigh);
  CHECK(run.findings[0].message == "serve ran out of GPU memory, at w.py:3.");
  CHECK(run.findings[0].action == "Let the program need less of the GPU's memory.");
}

TEST_CASE("a power cap needs readings, and power near the limit") {
  const auto capped = [&](std::uint64_t samples, std::optional<double> limit, double power) {
    Run run = healthy_run();
    clocks(run, 1, "power cap");
    run.energy.devices[0].samples = samples;
    run.energy.devices[0].power_limit_w = limit;
    run.energy.devices[0].power_max_w = power;
    judge(parsed_shipped(), run);
    return find(run, "power_capped", "") != nullptr;
  };
  CHECK(capped(10, 700, 690));
  CHECK(capped(10, std::nullopt, 690));
  CHECK_FALSE(capped(9, 700, 690));
  CHECK_FALSE(capped(10, 700, 620));
  CHECK_FALSE(capped(1, 700, 236));
}

TEST_CASE("what an operator's copies are decides the advice, and where it is not known there is none") {
  const auto advised = [&](const char* name, const char* kernel, const char* dtypes = "") {
    Run run = healthy_run();
    OperatorEntry& op = run.operators[0].entries[2];
    op.name = name;
    op.cuda_self_ns = op.cuda_total_ns = 60000000;
    op.kernels = {{kernel, 10, 60000000}};
    op.shapes = {{"[[8], [8]]", 10, 100, 60000000, dtypes}};
    judge(parsed_shipped(), run);
    const Finding* finding = find(run, "copy_operators", name);
    return finding == nullptr ? std::string("nothing") : finding->action;
  };
  CHECK(advised("aten::copy_", "[CUDA memcpy Host-to-Device]") ==
        "Keep on the GPU what is sent there again and again, or send it ahead of time.");
  CHECK(advised("aten::copy_", "Memcpy DtoH (Device -> Pageable)") == "Fetch less from the GPU, and less often.");
  CHECK(advised("aten::index_select", "void at::native::indexSelectLargeIndex<c10::BFloat16>") ==
        "Move rows less often, or only the list of their places.");
  CHECK(advised("aten::copy_", "at::native::bfloat16_copy_kernel_cuda") == "Keep the data in one number format throughout.");
  CHECK(advised("aten::copy_", "at::native::direct_copy_kernel_cuda", "[float32, bfloat16]") ==
        "Keep the data in one number format throughout.");
  CHECK(advised("aten::clone", "at::native::direct_copy_kernel_cuda", "[bfloat16]") ==
        "Let each part of the program write its data as the next one reads it.");
  CHECK(advised("aten::cat", "anything") == "Write new data into memory that is there already, instead of joining pieces.");
  CHECK(advised("aten::copy_", "some_kernel") == "nothing");
}

TEST_CASE("every piece of evidence leads to something in run.json, and no gain exceeds the time it is part of") {
  std::size_t pieces = 0;
  for (const RuleCase& each : rule_cases()) {
    Run run = healthy_run();
    each.fire(run);
    judge(parsed_shipped(), run);
    const auto json = nlohmann::json::parse(run_to_json(run));
    for (const Finding& finding : run.findings) {
      for (const nl::FindingEvidence& evidence : finding.evidence) {
        CAPTURE(finding.rule, evidence.reference);
        const nlohmann::json::json_pointer pointer(evidence.reference);
        REQUIRE(!evidence.reference.empty());
        REQUIRE(json.contains(pointer));
        CHECK(!json.at(pointer).is_null());
        CHECK(evidence.window_start_ns.has_value() == evidence.window_end_ns.has_value());
        if (finding.scope == RuleScope::kStage) CHECK(evidence.window_end_ns.value_or(0) > evidence.window_start_ns.value_or(0));
        ++pieces;
      }
      CAPTURE(finding.rule);
      CHECK(finding.gain_ns.value_or(0) >= 0);
      CHECK(finding.gain_share.value_or(0) <= 1);
      CHECK(finding.suggestions.size() >= 3);
      if (finding.severity == Severity::kHigh && finding.about != RuleAbout::kFailure) {  // a failure saves nothing
        CHECK(finding.gain_share.value_or(0) >= 0.05);
        CHECK(finding.confidence > 0.8);
      }
      if (finding.scope == RuleScope::kStage)
        CHECK(finding.gain_ns.value_or(0) <= static_cast<double>(stage(run, finding.subject.c_str()).wall.total_ns));
    }
  }
  CHECK(pieces > 100);
}
