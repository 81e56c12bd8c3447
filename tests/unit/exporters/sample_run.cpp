#include "tests/unit/exporters/sample_run.h"

#include <tuple>

#include "model/run_metrics.h"
#include "tests/unit/exporters/sample_parts.h"

namespace nl::test {
namespace {

const TimeSummary kTime{3, 1000, 1000.0 / 3, 300, 500, 200, 500, 152.75252316519467};
const Budget kBudget{1000, 600, 50, 40, 100, 150, 50, 10};

void fill_machine(Run& run) {
  Device gpu;
  gpu.name = "NVIDIA H200";
  gpu.uuid = "GPU-1";
  gpu.bus = "0000:01:00.0";
  gpu.chip = "GH100";
  gpu.sm_count = 132;
  gpu.clock_hz = 1980000000;
  gpu.memory_bytes = 150120103936;
  gpu.bandwidth_bytes_per_s = 4800000000000;
  gpu.l2_bytes = 62914560;
  gpu.compute_major = 9;
  run.hardware = {{gpu}, "580.1", "some CPU", 16, 1ull << 37, "x86_64"};
  run.software = {"0.1.0", "Debian 12", "6.1", "13.0", "2025.3.1", "2025.3.1", "transformers", {{"torch", "2.11.0"}}};
  run.model = {"llama", {{"dtype", "bf16"}, {"layers", "4"}}};
  run.workload = {{"python3", "run.py", "--prompt=it's"}, "work", 3};
}

StageActivity activity() {
  StageActivity out;
  out.launches = 7;
  out.launch_call_ns = 70;
  out.graph_launches = 1;
  out.memsets = 1;
  out.graph_runs = 1;
  out.sync_calls = 2;
  out.sync_call_ns = 110;
  out.kernels = 7;
  out.graph_kernels = 3;
  out.kernel_sum_ns = 650;
  out.small_kernels = 6;
  out.small_kernel_ns = 200;
  out.elementwise_ns = 120;
  out.elementwise_kernels = 4;
  out.longest_elementwise_chain = 3;
  out.gemm_ns = 300;
  out.attention_ns = 80;
  out.copy_kernel_ns = 20;
  out.h2d_ns = 30;
  out.d2h_ns = 20;
  out.d2d_ns = 10;
  out.memset_ns = 5;
  out.h2d_bytes = 4096;
  out.d2h_bytes = 512;
  out.d2d_bytes = 128;
  out.h2d_copies = 2;
  out.d2h_copies = 1;
  out.d2d_copies = 1;
  out.pageable_ns = 25;
  out.pageable_copies = 1;
  out.longest_gap_ns = 90;
  out.longest_gap_at_ns = 4000;
  out.streams_used = 2;
  return out;
}

StageCounters counters() {
  StageCounters out;
  out.measured_by = Meter::kCupti;
  out.windows = 3;
  out.duration_ns = 320;
  out.values[Metric::kDramRead] = 2048;
  out.values[Metric::kDramWritten] = 512;
  out.values[Metric::kL2Bytes] = 4096;
  out.values[Metric::kDram] = 62.5;
  out.values[Metric::kSmActive] = 81.25;
  out.values[Metric::kTensor] = 40;
  out.values[Metric::kOccupancy] = 33.5;
  out.metrics = {{"dram__bytes_read.sum", 2048}, {"gpu__time_duration.sum", 320}};
  return out;
}

StageSampling sampling() {
  StageSampling out;
  out.samples = 64;
  out.values[Metric::kSmActive] = 80.5;
  out.values[Metric::kTensor] = 39;
  out.values[Metric::kDram] = 61;
  out.values[Metric::kOccupancy] = 32.5;
  out.values[Metric::kDramRead] = 2.5e12;
  out.values[Metric::kDramWritten] = 5e11;
  out.metrics = {{"sm__cycles_active.avg.pct_of_peak_sustained_elapsed", 80.5}};
  return out;
}

const HostFrame kAttentionLine = {"Attention.forward", "/site/modeling.py", "transformers.models.llama.modeling_llama", 245, 227,
                                  "q = self.q_proj(x)"};

void fill_stages(Run& run) {
  StageEntry stage;
  stage.name = "prefill";
  stage.ranges = {"LLM:prefill"};
  stage.wall = kTime;
  stage.warmup_windows = 1;
  stage.warmup_wall_ns = 5000;
  stage.gpu_busy_ns = 900;
  stage.gpu_sum_ns = 950;
  stage.kernel_calls = 7;
  stage.open_ranges = 0;
  stage.budget = kBudget;
  stage.foreign_gpu_ns = 15;
  stage.activity = activity();
  stage.launch_waits =
      LaunchWaits{150, 20, 90, {{CallKind::kWait, CallKind::kKernelLaunch, 3, 150, 20, 80, 4000}}, {{"cudaMalloc", 1, 60}}};
  stage.host_code = HostCode{150,
                             24,
                             {{kAttentionLine, HostWork::kModel, 18, 20, 112, 125}},
                             {{kAttentionLine, HostWork::kModel, 18, 20, 112, 125}},
                             {{HostWork::kModel, 18, 112}, {HostWork::kOther, 6, 38}},
                             {{kAttentionLine, 21, 30}},
                             1,
                             12,
                             {{"poll", 2, 9}}};
  HostBlame& blame = stage.host_code->blame.emplace();
  blame = {24, 3, HostWork::kModel, 18, kAttentionLine, 22, kAttentionLine, 18, kAttentionLine, kAttentionLine};
  stage.gaps = {{GapKind::kRecurring, "gemm", "softmax", true, 5, 2, 40, 39, 0.2, *stage.budget, 12, 7, blame}};
  stage.devices = {{0, 650}};
  stage.tokens_per_window = 256;
  stage.tokens_per_s = 768000;
  stage.first_window_ns = 500;
  stage.rest_median_ns = 250;
  stage.first_in_iteration_ns = 480;
  stage.later_in_iteration_ns = 260;
  stage.longest_window_start_ns = 4000;
  stage.longest_window_end_ns = 4500;
  stage.counters = counters();
  stage.sampling = sampling();
  stage.series = {{500, 240, 260}, 1, 1};
  run.stages = {stage};
  run.session = SessionEntry{"onnxruntime",
                             "1.21.0",
                             "cpu",
                             "fp32",
                             "block.onnx",
                             "random, seed 1",
                             2,
                             3,
                             4'000'000,
                             {{"x", "float32", "[batch, 64]", {2, 64}}},
                             {{"y", "float32", "[batch, 64]", {2, 64}}},
                             kTime,
                             kTime,
                             0.04,
                             950.0,
                             0.95,
                             {"y: 1 of 128 values are NaN"}};
  run.host = HostStacks{HostSampler::kPython, 10'000'000, 0.015, 400, 2, {{kAttentionLine, HostWork::kModel}}, {{"prefill", {0}, 18}}, 6};
  run.phases = {1200, {{"prefill", 1000, kBudget}, {"idle", 200, std::nullopt}}, 0.25, 0.125};
  run.iterations = {{iteration(0, 5000, true, {{"prefill", 5000}}), iteration(6000, 500, false, {{"prefill", 500}})},
                    4,
                    1,
                    "the first iteration is warm-up"};
  run.latency = {kTime, kTime, kTime, 2, 1234.5, {"no decode steps: time per output token is that of a decode window"}};
}

NcuSample sample() {
  NcuSample out;
  out.ncu_id = 4;
  out.measured_by = Meter::kNcu;
  out.ncu_kernel_name = "void at::reduce<4>(T1)";
  out.matched_by = KernelMatch::kNormalisedName;
  out.grid = {8, 12, 1};
  out.block = {384, 1, 1};
  out.stage = "prefill";
  out.nsys_median_ns = 300;
  out.nsys_min_ns = 200;
  out.nsys_max_ns = 500;
  out.nsys_calls = 3;
  out.ncu_duration_ns = 310;
  out.durations_agree = true;
  out.values[Metric::kSm] = 61.25;
  out.values[Metric::kDram] = 12.5;
  out.values[Metric::kOccupancy] = 33.3;
  out.values[Metric::kDramBytes] = 1024;
  out.bound_by = Bound::kCompute;
  out.metrics = {{"gpu__time_duration.sum", 310}, {"sm__throughput", 0.1}};
  return out;
}

void fill_kernels(Run& run) {
  KernelEntry kernel;
  kernel.name = "void at::native::reduce<(int)4>(T1)";
  kernel.mangled_name = "_Z6reduce";
  kernel.short_name = "reduce";
  kernel.kind = KernelClass::kReduce;
  kernel.time = kTime;
  kernel.gpu_share = 1;
  kernel.graph_calls = 1;
  kernel.stages = {{"prefill", 600, 2}, {"none", 400, 1}};
  kernel.measured = {{"prefill", 400, 1}};
  kernel.measured_ns = 400;
  kernel.measured_calls = 1;
  kernel.selected = true;
  kernel.ncu = {sample()};
  kernel.stalls = {{"long_scoreboard", 50, 0.5}, {"selected", 25, 0.25}, {"wait", 15, 0.15}, {"barrier", 7, 0.07}, {"membar", 3, 0.03}};
  run.kernels = {{kernel}};
  run.api = {{"cudaLaunchKernel", kTime}};
  run.ranges = {{"LLM", "prefill", RangeStyle::kStartEnd, kTime, 900, 7}};
  run.coverage = {1000, 1000, 0.6, 0.0, std::nullopt};
}

void fill_operators(Run& run) {
  OperatorEntry op;
  op.name = "aten::mm";
  op.calls = 3;
  op.total_ns = 900;
  op.self_ns = 800;
  op.cuda_total_ns = 600;
  op.cuda_self_ns = 550;
  op.shapes = {shape("[[1, 1024], [1024, 1024]]", 3, 900)};
  op.shapes[0].dtypes = "[bfloat16, bfloat16]";
  op.kernels = {{"reduce", 3, 600}};
  op.stages = {{"prefill", 550}};
  OperatorTable table;
  table.source = "pytorch ranges";
  table.entries = {op};
  table.cuda_ns = 550;
  table.gpu_share = 0.55;
  table.note = "a note on the source";
  table.entries_left_out = 2;
  table.ranges_left_out = 1;
  run.operators = {table};
  OperatorCall call{0,
                    "aten::linear",
                    OperatorType::kMatmul,
                    0,
                    "[[1, 1024], [1024, 1024]]",
                    "[bfloat16, bfloat16]",
                    "model.layers.0.mlp",
                    "modeling_llama.py:176 forward",
                    90,
                    0,
                    0,
                    {}};
  OperatorCall inside{1,   "aten::mm", OperatorType::kMatmul, 1, "[[1, 1024], [1024, 1024]]", "", "model.layers.0.mlp", "", 60,
                      200, 260,        {{"reduce", 1, 200}}};
  OperatorCall node{0, "MatMul", OperatorType::kMatmul, 0, "[[1, 64], [64, 64]]", "[float32, float32]", "", "", 70, 40, 40, {}};
  node.node = "/block/MatMul";
  node.node_index = 7;
  node.provider = "CUDAExecutionProvider";
  node.holds = {"/block/Mul", "/block/Add"};
  node.output_shapes = "[[1, 64]]";
  node.output_dtypes = "[float32]";
  node.executions = 2;
  node.host_times = {5, 360, 70, 68, 68, 80, 81};
  node.gpu_times = {5, 200, 40, 39, 39, 41, 42};
  OperatorStep iteration{"inference", "onnxruntime", 0, 5, {node}, 0, {}};
  iteration.file = "profile.json";
  iteration.iterations = 5;
  iteration.wall_ns = 100;
  iteration.unprofiled_wall_ns = 95;
  iteration.threads = 4;
  iteration.idle_threads = 3;
  run.operator_steps = {{"prefill", "pytorch ranges", 1, 3, {call, inside}, 4, 30}, iteration};
  run.layers = {{"model.layers.0.mlp", "LlamaMLP", 3, 3, 700, 100, 500, 50, {{"reduce", 3, 500}}}};
}

void fill_efficiency(Run& run) {
  run.peaks = {"NVIDIA H200", "conf/device/h200.yaml", false, {{"bf16", 989e12}, {"f32", 67e12}}, 4.8e12, {"dense peaks"}};
  StageEfficiency stage;
  stage.stage = "prefill";
  stage.dtype = "bf16";
  stage.terms = {{"qkv", "2·T·D·(q+2·kv)·d", 2e9, 1e6}, {"head", "2·D·V", 1e9, 2e6}};
  stage.flops = 3e9;
  stage.bytes = 3e6;
  stage.flops_per_s = 4.2e13;
  stage.mfu = 0.0425;
  stage.mbu = 0.25;
  stage.mfu_busy = 0.0625;
  stage.mbu_busy = 0.375;
  stage.intensity = 1000;
  stage.ideal_ns = 100;
  stage.limit = Bound::kCompute;
  stage.assumptions = {"weights read once"};
  stage.note = "";
  run.efficiency = {stage};
  run.roofline = {{{"reduce", "prefill", 4, 1e6, 1024, 310, 3.2e12, 976.5625, "f32", 6.7e13, 0.048, Bound::kLatency, std::nullopt, 12.5}},
                  {"1 launch without FLOP counts"}};
}

void fill_findings(Run& run) {
  Finding finding;
  finding.rule = "launch_bound_decode";
  finding.scope = RuleScope::kStage;
  finding.subject = "prefill";
  finding.severity = Severity::kHigh;
  finding.confidence = 0.75;
  finding.message = "prefill waits for launches";
  finding.plain = "The GPU waits for the program; larger pieces of work remove the wait.";
  finding.action = "Give the GPU larger pieces of work.";
  finding.evidence = {windowed(evidence("the GPU waits for the next launch 15 % of the time", true, "/stages/0/budget"), 4000, 4500),
                      evidence("the API calls take 7 % of the time", false, "/stages/0/activity"), unknown("occupancy under 25 %")};
  finding.suggestions = {"capture the step in a CUDA graph", "compile the model"};
  finding.gain_ns = 150;
  finding.gain_share = 0.125;
  finding.gain_per_window_ns = 15;
  finding.gain_per_token_ns = 1.5;
  finding.cause = "launches";
  finding.same_cause_as = "small_kernel_storm";
  finding.part_of = "/findings/1";
  finding.gain_note = "assumes that all of the waiting goes away";
  finding.prediction = graph_prediction("prefill");
  finding.prediction->refused = NoPrediction::kNotReplayed;
  run.findings = {finding};
  run.abstentions = {
      abstention("clock_throttling", RuleScope::kRun, "energy.devices", "needs the GPU's clocks", "nl-stage run --config deep")};
}

void fill_costs(Run& run) {
  run.perturbation.stages = {
      judged(slowdown(PassKind::kNsys, "prefill", {100, 110}, {120, 125}), 0.1667, 0.05, 0.29, SlowdownVerdict::kUndecidable)};
  run.perturbation.order = "bare nsys bare nsys";
  run.perturbation.notes = {"one pass was left out"};
  ClockSummary clock;
  clock.device = 0;
  clock.samples = 12;
  clock.power_mean_w = 310.5;
  clock.power_max_w = 402;
  clock.power_limit_w = 700;
  clock.sm_clock_min_mhz = 1200;
  clock.sm_clock_median_mhz = 1980;
  clock.sm_clock_max_mhz = 1980;
  clock.temperature_max_c = 51;
  clock.throttled_share = 0.25;
  clock.throttle_reasons = {"power cap"};
  run.energy.pass = "bare";
  run.energy.source = EnergySource::kCounter;
  run.energy.stages = {energy("prefill", 1.5, 0.006, 300, 8)};
  run.energy.devices = {clock};
  run.timeline = {4000,
                  4500,
                  "iteration 2 of 2",
                  {"prefill", "reduce"},
                  {{LaneKind::kRanges, "thread 973", {{4000, 500, 0, 1}}}, {LaneKind::kGpu, "GPU 0 stream 7", {{4100, 200, 1, 3}}}},
                  5};
  run.activity = {{0, "sm__cycles_active.avg.pct_of_peak_sustained_elapsed", "SM active", 4000, 125, {80.5, std::nullopt, 62.25, 0.0}}};
  run.clock = {1200, 900, 1200, 2, "prefill", 300, 4};
}

}  // namespace

Run full_run() {
  Run run;
  run.run_id = "20250101-120000-llama-deep";
  run.created_at = "2025-01-01T12:00:00Z";
  run.name = "llama";
  run.mode = "deep";
  run.status = RunStatus::kPartial;
  for (const RunMetricInfo& info : run_metric_table())
    if (!info.uses.summary.empty()) run.summary.figures[info.key] = 1.0 / static_cast<double>(info.key.size());
  run.summary.top_finding = "a-rule";
  run.problems = {{Code::kCountersPartly, "ncu profiled 1 of 2 kernels", "ncu pass", "try --set ncu.replay_mode=application"}};
  fill_machine(run);
  fill_stages(run);
  fill_kernels(run);
  fill_operators(run);
  fill_efficiency(run);
  fill_findings(run);
  run.what_if = sample_what_if("prefill");
  fill_costs(run);
  run.import_stats = {
      SourceFormat::kNsysSqlite,  "3.20.3", "2025.3.1", {{"NVTX_EVENTS", 5}}, {{{Code::kNote, {"end before start"}}, 1}}, {"GPU_METRICS"},
      {{Code::kNote, {"a note"}}}};
  run.ncu_rows_damaged = {{{Code::kNote, {"a row was cut off"}}, 1}};
  run.provenance.tracer = Tracer::kNsys;
  run.provenance.meter = Meter::kNcu;
  run.provenance.counters_missing = Problem{Code::kCountersDenied, "ncu may not read the counters.", "ncu/cmd.txt", "Run as root."};
  run.provenance.passes = {
      {PassKind::kNsys, {"nsys", "profile", "--trace=cuda,nvtx"}, std::nullopt, 5, PassOutcome::kOk, "", {"nsys/run.nsys-rep"}}};
  run.provenance.adaptations = {{Code::kNote, {"--gpu-metrics-devices left out"}}};
  run.provenance.inputs_sha256 = {{"run.sqlite", std::string(64, 'a')}};
  return run;
}

Run sparse_run() {
  Run run;
  run.run_id = "20261115-021808-quickstart-light";
  run.created_at = "2026-11-15T02:18:08Z";
  run.name = "quickstart";
  run.mode = "light";
  run.hardware.cpu_model = "AMD EPYC 9654";
  run.hardware.cpu_count = 2;
  run.software = {"0.1.0", "Debian GNU/Linux 12 (bookworm)", "6.1.0", "", "", "", "", {}};
  run.workload = {{"build/workloads/nl-llm-cpu"}, "work", 0};
  for (const auto& [name, count, mean_ns] :
       {std::tuple{"prefill", 3, 41.2e6}, std::tuple{"decode", 3, 88.4e6}, std::tuple{"decode_step", 24, 11.0e6}}) {
    StageEntry stage;
    stage.name = name;
    stage.ranges = {std::string("LLM:") + name};
    stage.wall = summary(static_cast<std::uint64_t>(count), mean_ns, 0.03);
    run.stages.push_back(stage);
  }
  run.kernels_note = Remark{Code::kRangesOnly};
  run.operators_note = "no operator ranges in the capture";
  run.perturbation.note = "light mode makes one pass";
  run.energy.note = "no NVML on this machine";
  run.latency.notes = {"tokens are not known: set workload.tokens, or mark decode steps"};
  run.import_stats = {SourceFormat::kCollector, "1", "0.1.0", {{"ranges", 30}}, {}, {}, {}};
  run.provenance.tracer = Tracer::kRanges;
  run.provenance.passes = {{PassKind::kCollector, {"nl-llm-cpu"}, 0, 412000000, PassOutcome::kOk, "", {}}};
  return run;
}

}  // namespace nl::test
