#include "analysis/verdicts/rules/judge.h"
#include "exporters/run_json/run_json.h"
#include "tests/catch.h"
#include "tests/unit/golden.h"

// docs/sample-run.json: the smallest file with something of each main part, for those who write a reader of run.json.
namespace {

nl::TimeSummary same_times(std::uint64_t count, nl::Ns each) {
  const auto ns = static_cast<double>(each);
  return {count, each * static_cast<nl::Ns>(count), ns, ns, each, each, each, 0};
}

nl::StageEntry sample_stage(const char* name, std::uint64_t count, nl::Ns each, nl::Ns busy_each, double tokens) {
  nl::StageEntry stage;
  stage.name = name;
  stage.ranges = {std::string("LLM:") + name};
  stage.wall = same_times(count, each);
  const auto windows = static_cast<nl::Ns>(count);
  nl::Budget& budget = stage.budget.emplace();
  budget.wall_ns = each * windows;
  budget.gpu_compute_ns = busy_each * windows;
  budget.launch_starved_ns = budget.wall_ns - budget.gpu_compute_ns;
  stage.gpu_busy_ns = stage.gpu_sum_ns = budget.gpu_compute_ns;
  stage.kernel_calls = count;
  stage.tokens_per_window = tokens;
  stage.tokens_per_s = tokens * 1e9 / static_cast<double>(each);
  stage.series = {std::vector<nl::Ns>(count, each), 1, 0};
  return stage;
}

nl::Finding sample_finding() {
  nl::Finding finding;
  finding.rule = "launch_bound_decode";
  finding.scope = nl::RuleScope::kStage;
  finding.subject = "decode_step";
  finding.severity = nl::Severity::kHigh;
  finding.confidence = 0.875;
  finding.message = "The GPU waits for kernel launches 75 % of the decode_step time and computes 25 %.";
  finding.plain = "The GPU computes 25 % of the answer's time and waits for its next piece of work 75 %.";
  finding.action = "Use CUDA graphs for each step of the answer.";
  finding.evidence = {{"the GPU waits for launches 75 % of the time", true, true, "/stages/1/budget", {}, {}}};
  finding.suggestions = {"Capture the decode step as a CUDA graph.", "Compile the model."};
  finding.gain_ns = 24e6;
  finding.gain_share = 0.6;
  finding.gain_per_window_ns = finding.gain_per_token_ns = 3e6;
  return finding;
}

nl::Run smallest_run() {
  nl::Run run;
  run.run_id = "20260101-120000-sample-light-00000000";
  run.created_at = "2026-01-01T12:00:00Z";
  run.name = "sample";
  run.mode = "light";
  run.hardware.gpus.emplace_back().name = "NVIDIA H200";
  run.stages = {sample_stage("prefill", 1, 8'000'000, 4'000'000, 256), sample_stage("decode_step", 8, 4'000'000, 1'000'000, 1)};
  run.phases.span_ns = 40'000'000;
  run.phases.phases = {{"prefill", 8'000'000, run.stages[0].budget}, {"decode_step", 32'000'000, run.stages[1].budget}};
  run.latency.prefill = run.stages[0].wall;
  run.latency.tpot = same_times(1, 4'000'000);
  run.latency.batch = 1;
  run.latency.output_tokens_per_s = 200;
  nl::KernelEntry& kernel = run.kernels.emplace().emplace_back();
  kernel.name = kernel.short_name = "gemm";
  kernel.time = same_times(9, 1'333'333);
  kernel.gpu_share = 1;
  kernel.stages = {{"prefill", 4'000'000, 1}, {"decode_step", 8'000'000, 8}};
  kernel.measured = {{"prefill", 4'000'000, 1}, {"decode_step", 8'000'000, 8}};
  kernel.measured_ns = kernel.time.total_ns;
  kernel.measured_calls = kernel.time.count;
  run.findings = {sample_finding()};
  run.summary = nl::analysis::run_summary(run);
  return run;
}

}  // namespace

TEST_CASE("docs/sample-run.json is a small run as it is written today", "[golden]") {
  const std::string text = nl::exporters::run_to_json(smallest_run());
  nl::test::check_golden(NL_SOURCE_ROOT "/docs/sample-run.json", text);
  CHECK(nl::exporters::run_to_json(nl::exporters::run_from_json(text)) == text);
  CHECK(text.size() < 20'000);
}
