#include "tests/unit/orchestrator/config/healthy_run.h"

namespace nl::test {
namespace {

constexpr Ns kMs = 1000000;

TimeSummary times(std::uint64_t count, Ns each) {
  TimeSummary out{count, static_cast<Ns>(count) * each, static_cast<double>(each), static_cast<double>(each), {}, each, each, 0};
  if (count >= kLeastForP95) out.p90_ns = out.p95_ns = each;
  if (count >= kLeastForP99) out.p99_ns = each;
  return out;
}

StageEntry a_stage(const char* name, std::uint64_t windows, Ns each, Ns at) {
  StageEntry entry;
  entry.name = name;
  entry.ranges = {std::string("LLM:") + name};
  entry.wall = times(windows, each);
  const Ns wall = entry.wall.total_ns;
  entry.gpu_busy_ns = wall;
  entry.gpu_sum_ns = wall;
  entry.budget = Budget{wall, wall, 0, 0, 0, 0, 0, 0};
  entry.foreign_gpu_ns = 0;
  StageActivity& did = entry.activity.emplace();
  did.launches = windows;
  did.launch_call_ns = wall / 50;
  did.graph_launches = windows;
  did.kernels = did.graph_kernels = 40 * windows;
  did.kernel_sum_ns = wall;
  did.gemm_ns = wall * 8 / 10;
  did.gemm_kernels = 20 * windows;
  did.streams_used = 2;
  entry.longest_window_start_ns = at;
  entry.longest_window_end_ns = at + each;
  entry.first_window_ns = each;
  entry.rest_median_ns = static_cast<double>(each);
  return entry;
}

StageEfficiency an_efficiency(const char* name, nl::Bound limit, double mfu, double mbu, Ns each) {
  StageEfficiency entry;
  entry.stage = name;
  entry.limit = limit;
  entry.mfu = entry.mfu_busy = mfu;
  entry.mbu = entry.mbu_busy = mbu;
  entry.intensity = 50;
  entry.ideal_ns = static_cast<double>(each) * std::max(mfu, mbu);
  return entry;
}

KernelEntry a_kernel(const char* name, double share, const char* stage) {
  KernelEntry entry;
  entry.name = entry.short_name = name;
  entry.time = times(100, 100000);
  entry.gpu_share = share;
  entry.stages = {{stage, entry.time.total_ns, 100}};
  NcuSample& sample = entry.ncu.emplace_back();
  sample.ncu_id = 7;
  sample.grid = {1320, 1, 1};
  sample.nsys_median_ns = 100000;
  sample.nsys_calls = 100;
  sample.values[nl::Metric::kSm] = 80;
  sample.values[nl::Metric::kDram] = 50;
  sample.values[nl::Metric::kOccupancy] = 60;
  sample.values[nl::Metric::kTensor] = 70;
  sample.values[nl::Metric::kL2] = 40;
  sample.bound_by = nl::Bound::kCompute;
  sample.metrics = {{"lts__t_sector_hit_rate.pct", 60}, {"launch__waves_per_multiprocessor", 10}, {"launch__registers_per_thread", 64}};
  return entry;
}

void add_system(Run& run) {
  run.hardware.gpus.push_back({});
  run.hardware.gpus.back().sm_count = 132;
  run.software.backend = "transformers";
  run.software.versions = {{"python", "3.12.3"}, {"torch", "2.11.0"}, {"transformers", "5.17.0"}};
  run.model.name = "llama";
  run.model.attributes = {{"batch_size", "16"}, {"experts", "8"}, {"prompt_tokens", "512"}, {"decode_tokens", "10"}};
  run.workload.command = {"python", "serve it.py", "--n=2"};
  run.coverage = {200 * kMs, 200 * kMs, 1.0, 0.0, 0.0};
  run.import_stats.rows_read = {{"kernels", 100000}};
  for (const auto& entry : run.stages)
    run.perturbation.stages.push_back({PassKind::kNsys, entry.name, {1}, {1}, 0.02, -0.01, 0.04, nl::SlowdownVerdict::kUnderLimit, "", ""});
  ClockSummary clocks;
  clocks.samples = 100;
  clocks.throttled_share = 0;
  clocks.sm_clock_min_mhz = clocks.sm_clock_median_mhz = clocks.sm_clock_max_mhz = 1980;
  clocks.temperature_max_c = 60;
  clocks.power_max_w = 600;
  run.energy.devices = {clocks};
}

}  // namespace

Run healthy_run() {
  Run run;
  run.stages = {a_stage("prefill", 2, 50 * kMs, 0), a_stage("decode", 2, 50 * kMs, 50 * kMs),
                a_stage("decode_step", 20, 5 * kMs, 60 * kMs)};
  StageEntry& step = stage(run, "decode_step");
  step.tokens_per_window = 16;
  step.first_in_iteration_ns = step.later_in_iteration_ns = 5 * kMs;
  stage(run, "prefill").tokens_per_window = 8192;
  run.phases = {
      200 * kMs, {{"prefill", 100 * kMs, stage(run, "prefill").budget}, {"decode", 100 * kMs, stage(run, "decode").budget}}, 0.0, 0.0};
  for (Ns at : {0, 100, 200}) run.iterations.list.push_back({at * kMs, 100 * kMs, at == 0, {}, 1, 1});
  run.iterations.count = 3;
  run.iterations.warmup = 1;
  run.kernels = {a_kernel("ampere_bf16_gemm_128x128", 0.30, "prefill"), a_kernel("vectorized_elementwise_kernel", 0.20, "decode_step"),
                 a_kernel("flash_fwd_kernel", 0.30, "decode_step")};
  run.efficiency = {an_efficiency("prefill", nl::Bound::kCompute, 0.5, 0.2, 50 * kMs),
                    an_efficiency("decode", nl::Bound::kMemory, 0.06, 0.6, 50 * kMs),
                    an_efficiency("decode_step", nl::Bound::kMemory, 0.06, 0.6, 5 * kMs)};
  OperatorTable& table = run.operators.emplace_back();
  table.source = "pytorch ranges";
  table.cuda_ns = 200 * kMs;
  for (const char* name : {"aten::mm", "aten::item", "aten::cat"}) {
    OperatorEntry& entry = table.entries.emplace_back();
    entry.name = name;
    entry.calls = 10;
    entry.total_ns = entry.self_ns = kMs;
    entry.cuda_total_ns = entry.cuda_self_ns = kMs;
  }
  add_system(run);
  return run;
}

}  // namespace nl::test
