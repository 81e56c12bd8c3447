#include <algorithm>
#include <cmath>

#include <fmt/core.h>

#include "tests/unit/exporters/sample_parts.h"
#include "tests/unit/exporters/sample_run.h"

namespace nl::test {
namespace {

// The shares in the order of the bins; what is left over is the residual, so that it closes to the nanosecond.
Budget budget(Ns wall_ns, const double (&share)[6]) {
  Budget out;
  out.wall_ns = wall_ns;
  Ns* const bins[] = {&out.gpu_compute_ns,  &out.exposed_copy_ns,   &out.queue_wait_ns,
                      &out.sync_blocked_ns, &out.launch_starved_ns, &out.other_host_ns};
  for (std::size_t i = 0; i < 6; ++i) *bins[i] = static_cast<Ns>(static_cast<double>(wall_ns) * share[i]);
  out.residual_ns = wall_ns - out.sum_ns();
  return out;
}

void add_machine(Run& run) {
  Device gpu;
  gpu.name = "NVIDIA H200";
  gpu.uuid = "GPU-00000000-0000-0000-0000-000000000000";
  gpu.chip = "GH100";
  gpu.sm_count = 132;
  gpu.clock_hz = 1980000000;
  gpu.memory_bytes = 150120103936;
  gpu.bandwidth_bytes_per_s = 4800000000000;
  gpu.compute_major = 9;
  run.hardware = {{gpu}, "580.95.05", "Intel(R) Xeon(R) Platinum 8480C", 16, 137438953472, "x86_64"};
  run.software = {"0.1.0", "Debian GNU/Linux 12 (bookworm)", "6.1.0", "13.0", "2025.3.1", "2025.3.1", "", {}};
  run.model = {"llama-4l-1024", {{"architecture", "LlamaForCausalLM"}, {"dtype", "bf16"}, {"hidden_size", "1024"}, {"layers", "4"}}};
  run.workload = {{"python3", "workloads/pytorch/hf_llm.py", "--layers", "4", "--prompt", "256", "--steps", "8"}, "work", 0};
  run.workload.verdict.kind = WorkloadKind::kGeneration;
  run.workload.verdict.confidence = 1;
  run.workload.verdict.witnesses = {{Code::kKindByStages, {"prefill, decode, decode_step"}}};
  run.workload.verdict.unit_stage = "decode_step";
}

StageEntry stage(const std::string& name, const TimeSummary& wall, const double (&share)[6], double busy) {
  StageEntry out;
  out.name = name;
  out.ranges = {"LLM:" + (name == "decode" ? std::string("decode_all") : name)};
  out.wall = wall;
  out.warmup_windows = std::max<std::uint64_t>(1, wall.count / 4);
  out.warmup_wall_ns = 1419242931;
  out.budget = budget(wall.total_ns, share);
  out.gpu_busy_ns = static_cast<Ns>(static_cast<double>(wall.total_ns) * busy);
  out.gpu_sum_ns = *out.gpu_busy_ns + 1200;
  out.kernel_calls = 182 * wall.count;
  out.foreign_gpu_ns = 0;
  StageActivity activity;
  activity.launches = 187 * wall.count;
  activity.launch_call_ns = wall.total_ns / 4;
  activity.kernels = 182 * wall.count;
  activity.sync_calls = wall.count;
  activity.kernel_sum_ns = *out.gpu_busy_ns;
  activity.small_kernels = 160 * wall.count;
  activity.longest_gap_ns = 84210;
  activity.streams_used = 1;
  out.activity = activity;
  out.devices = {{0, *out.gpu_busy_ns}};
  out.longest_window_start_ns = 2471000000;
  out.longest_window_end_ns = 2471000000 + wall.max_ns;
  return out;
}

void add_stages(Run& run) {
  const double prefill[] = {0.105, 0.004, 0.021, 0.062, 0.741, 0.058};
  const double decode[] = {0.0931, 0.0008, 0.0402, 0.0287, 0.8125, 0.0186};
  run.stages = {stage("prefill", summary(3, 4918945, 0.021), prefill, 0.109), stage("decode", summary(3, 34091823, 0.043), decode, 0.0939),
                stage("decode_step", summary(24, 4259877, 0.067), decode, 0.0941)};
  run.stages[0].tokens_per_window = 256;
  run.stages[0].tokens_per_s = 256 / 4918945e-9;
  run.stages[1].tokens_per_window = 8;
  run.stages[1].tokens_per_s = 8 / 34091823e-9;
  run.stages[2].tokens_per_window = 1;
  run.stages[2].tokens_per_s = 1 / 4259877e-9;
  const Ns prefill_ns = run.stages[0].wall.total_ns, decode_ns = run.stages[1].wall.total_ns, idle_ns = 1873402;
  const double idle[] = {0.0, 0.0, 0.01, 0.0, 0.0, 0.99};
  run.phases = {prefill_ns + decode_ns + idle_ns,
                {{"prefill", prefill_ns, run.stages[0].budget},
                 {"decode", decode_ns, run.stages[1].budget},
                 {"idle", idle_ns, budget(idle_ns, idle)}},
                0.0,
                0.0028};
  Ns at_ns = 1000000000;
  for (int i = 0; i < 4; ++i) {
    const Ns first = i == 0 ? 1419242931 : 4890000 + i * 17000, second = i == 0 ? 958265947 : 33800000 + i * 190000;
    run.iterations.list.push_back(iteration(at_ns, first + second + 400000, i == 0, {{"prefill", first}, {"decode", second}}));
    at_ns += first + second + 900000;
  }
  run.iterations.count = 4;
  run.iterations.warmup = 1;
  run.iterations.rule = "the first iteration is warm-up (runner.warmup: 1)";
  run.latency = {{}, summary(3, 4934120, 0.021), summary(3, 4261478, 0.043), 1, 205.4, {}};
}

struct KernelSeed {
  const char* name;
  double mean_ns;
  std::uint64_t calls;
  double sm, dram;
  std::optional<Bound> bound_by;
};

const KernelSeed kKernels[] = {
    {"nvjet_sm90_tst_8x64_64x16_2x1_v_bz_TNN", 7037, 128, 11.2, 38.1, Bound::kLatency},
    {"nvjet_sm90_tst_64x8_64x16_4x1_v_bz_TNT", 4505, 128, 14.0, 31.5, Bound::kLatency},
    {"void at::native::elementwise_kernel<(int)128, (int)4, void "
     "at::native::gpu_kernel_impl_nocast<at::native::BinaryFunctor<c10::BFloat16, "
     "c10::BFloat16, c10::BFloat16, at::native::binary_internal::MulFunctor<float>>>(at::TensorIteratorBase &, const "
     "T1 &)::[lambda(int) (instance "
     "1)]>(int, T3)",
     1815, 306, 6.1, 3.0, Bound::kLatency},
    {"nvjet_sm90_tst_8x64_64x16_4x1_v_bz_TNN", 3776, 128, 12.9, 34.7, Bound::kLatency},
    {"void at::native::unrolled_elementwise_kernel<at::native::direct_copy_kernel_cuda(at::TensorIteratorBase "
     "&)::[lambda() (instance 3)]::operator "
     "()() const>(int, T1, T2, T3, T4, T5)",
     2202, 198, 0, 0, std::nullopt},
    {"void at::native::reduce_kernel<(int)512, (int)1, at::native::ReduceOp<float, at::native::MeanOps<float, float, "
     "float, float>, unsigned int, "
     "float, (int)4, (int)4>>(T3)",
     2223, 162, 4.4, 1.2, Bound::kLatency},
    {"cudnn_generated_fort_native_sdpa_sm80_flash_fprop_wmma_f16_knob_35_16x128x64_1x4x1_cga1x1x1_kernel0_0", 4964, 64, 21.7, 9.8,
     Bound::kLatency},
    {"nvjet_sm90_tst_256x8_64x6_2x1_v_bz_TNT", 18910, 16, 24.6, 71.3, Bound::kMemory},
    {"void at::native::<unnamed>::CatArrayBatchedCopy<at::native::<unnamed>::OpaqueType<(unsigned int)2>, unsigned "
     "int, (int)4, (int)64, (int)64>(T1 "
     "*, at::native::<unnamed>::CatArrInputTensorMetadata<T1, T2, T4, T5>)",
     1762, 160, 0, 0, std::nullopt},
    {"sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64", 41500, 4, 78.4, 40.2, Bound::kCompute},
};

void add_kernels(Run& run) {
  run.kernels.emplace();
  double all_ns = 0;
  for (const auto& seed : kKernels) all_ns += seed.mean_ns * static_cast<double>(seed.calls);
  std::uint64_t id = 1;
  for (const auto& seed : kKernels) {
    KernelEntry kernel;
    kernel.name = seed.name;
    kernel.short_name = std::string(seed.name).substr(0, 24);
    kernel.time = summary(seed.calls, seed.mean_ns, 0.05);
    kernel.gpu_share = seed.mean_ns * static_cast<double>(seed.calls) / all_ns;
    kernel.stages = {{"decode", kernel.time.total_ns * 9 / 10, seed.calls * 9 / 10},
                     {"prefill", kernel.time.total_ns / 10, seed.calls / 10}};
    if (seed.sm > 0) {
      NcuSample sample;
      sample.ncu_id = id++;
      sample.measured_by = Meter::kNcu;
      sample.ncu_kernel_name = seed.name;
      sample.matched_by = KernelMatch::kName;
      sample.nsys_median_ns = static_cast<Ns>(seed.mean_ns);
      sample.nsys_calls = seed.calls;
      sample.ncu_duration_ns = static_cast<Ns>(seed.mean_ns * 1.04);
      sample.values[Metric::kSm] = seed.sm;
      sample.values[Metric::kDram] = seed.dram;
      sample.bound_by = seed.bound_by;
      sample.values[Metric::kOccupancy] = 24.5;
      kernel.selected = true;
      kernel.ncu = {sample};
    }
    if (seed.calls >= 128)
      kernel.stalls = {{"long_scoreboard", seed.calls * 5, 0.5},
                       {"wait", seed.calls * 2, 0.2},
                       {"barrier", seed.calls * 2, 0.2},
                       {"selected", seed.calls, 0.1}};
    run.kernels->push_back(std::move(kernel));
  }
  std::sort(run.kernels->begin(), run.kernels->end(), [](const auto& a, const auto& b) { return a.time.total_ns > b.time.total_ns; });
  run.coverage = {32966206, 7406715, 0.9972, 0.0, 0.0};
  run.api = {{"cudaLaunchKernel", summary(3356, 6100, 0.4)}, {"cudaDeviceSynchronize", summary(6, 401000, 0.8)}};
}

void add_operators(Run& run) {
  const struct {
    const char* name;
    std::uint64_t calls;
    double self_us, cuda_us;
    const char* shape;
  } seeds[] = {{"aten::mm", 464, 21.4, 6.8, "[[1, 1024], [1024, 4096]]"},
               {"aten::mul", 648, 12.1, 1.8, "[[1, 16, 1, 64], [1, 1, 1, 64]]"},
               {"aten::copy_", 414, 10.9, 2.1, "[[1, 1, 1024], [1, 1, 1024]]"},
               {"aten::mean", 162, 17.8, 2.2, "[[1, 1, 1024]]"},
               {"aten::_scaled_dot_product_cudnn_attention", 64, 38.5, 5.0, "[[1, 16, 1, 64], [1, 16, 264, 64]]"},
               {"aten::add", 488, 11.7, 1.6, "[[1, 1, 1024], [1, 1, 1024]]"},
               {"aten::cat", 160, 18.0, 1.8, "[[1, 16, 1, 32], [1, 16, 1, 32]]"},
               {"aten::neg", 144, 11.2, 1.5, "[[1, 16, 1, 32]]"},
               {"aten::embedding", 18, 22.6, 2.9, "[[32000, 1024], [1, 1]]"},
               {"aten::view", 2100, 0.9, 0, ""}};
  OperatorTable table;
  table.source = "pytorch ranges";
  Ns cuda_ns = 0;
  for (const auto& seed : seeds) {
    OperatorEntry op;
    op.name = seed.name;
    op.calls = seed.calls;
    op.self_ns = static_cast<Ns>(seed.self_us * 1e3 * static_cast<double>(seed.calls));
    op.total_ns = op.self_ns * 5 / 4;
    op.cuda_self_ns = static_cast<Ns>(seed.cuda_us * 1e3 * static_cast<double>(seed.calls));
    op.cuda_total_ns = op.cuda_self_ns;
    cuda_ns += *op.cuda_self_ns;
    if (*seed.shape) op.shapes = {shape(seed.shape, seed.calls, op.total_ns)};
    if (*op.cuda_self_ns > 0) op.kernels = {{kKernels[0].name, seed.calls, *op.cuda_self_ns}};
    op.stages = {{"decode", *op.cuda_self_ns * 9 / 10}, {"prefill", *op.cuda_self_ns / 10}};
    table.entries.push_back(std::move(op));
  }
  table.cuda_ns = cuda_ns;
  table.gpu_share = 0.981;
  run.operators = {std::move(table)};
  run.layers = {{"model", "LlamaModel", 0, 27, 98400000, 1200000, 6900000, 21000, {}}};
  for (int i = 0; i < 4; ++i) {
    const std::string name = fmt::format("model.layers.{}", i);
    run.layers.push_back(
        {name, "LlamaDecoderLayer", 1, 27, 23100000 + i * 41000, 900000, 1640000, 88000, {{kKernels[0].name, 54, 410000}}});
    run.layers.push_back(
        {name + ".self_attn", "LlamaAttention", 2, 27, 14200000, 8100000, 870000, 310000, {{kKernels[6].name, 27, 134000}}});
    run.layers.push_back({name + ".mlp", "LlamaMLP", 2, 27, 5300000, 2100000, 560000, 140000, {{kKernels[0].name, 54, 410000}}});
  }
}

StageEfficiency efficiency(const std::string& stage, double flops, double bytes, double wall_ns, const Budget& budget) {
  constexpr double kFlops = 989e12, kBytes = 4.8e12;
  const double seconds = wall_ns / 1e9;
  StageEfficiency out;
  out.stage = stage;
  out.dtype = "bf16";
  out.terms = {{"qkv and output projections", "2·T·D·(q+2·kv)·d·L + 2·T·D·q·d·L", flops * 0.22, bytes * 0.2},
               {"attention q·k and p·v", "4·q·d·ΣC·L", flops * 0.06, bytes * 0.02},
               {"gated MLP", "6·T·D·I·L", flops * 0.52, bytes * 0.5},
               {"head", "2·D·V", flops * 0.2, bytes * 0.28}};
  out.flops = flops;
  out.bytes = bytes;
  out.flops_per_s = flops / seconds;
  out.mfu = *out.flops_per_s / kFlops;
  out.mbu = bytes / seconds / kBytes;
  const double busy = static_cast<double>(budget.gpu_compute_ns) / static_cast<double>(budget.wall_ns);
  out.mfu_busy = *out.mfu / busy;
  out.mbu_busy = *out.mbu / busy;
  out.intensity = flops / bytes;
  out.ideal_ns = std::max(flops / kFlops, bytes / kBytes) * 1e9;
  out.limit = flops / kFlops > bytes / kBytes ? Bound::kCompute : Bound::kMemory;
  out.assumptions = {"causal attention counted exactly", "weights read once a window", "batch 1, prompt 256 tokens"};
  return out;
}

void add_efficiency(Run& run) {
  run.peaks = {"NVIDIA H200", "conf/device/h200.yaml",
               false,         {{"bf16", 989e12}, {"f16", 989e12}, {"fp8", 1979e12}, {"tf32", 494e12}, {"f32", 67e12}},
               4.8e12,        {}};
  run.efficiency = {efficiency("prefill", 4.83e10, 2.4e8, run.stages[0].wall.mean_ns, *run.stages[0].budget),
                    efficiency("decode", 1.56e9, 1.71e9, run.stages[1].wall.mean_ns, *run.stages[1].budget),
                    efficiency("decode_step", 1.95e8, 2.14e8, run.stages[2].wall.mean_ns, *run.stages[2].budget)};
  const struct {
    int kernel;
    double flops, bytes;
    const char* precision;
    double margin;
    const char* stage;
  } seeds[] = {{0, 8.4e6, 8.4e6, "tensor bf16", 22, "decode"}, {1, 4.2e6, 4.3e6, "tensor bf16", 28, "decode"},
               {7, 6.6e7, 6.6e7, "tensor bf16", 11, "decode"}, {6, 5.2e6, 1.1e6, "tensor bf16", 38, "decode"},
               {2, 1.2e5, 3.1e4, "f32", 54, "decode"},         {9, 2.15e10, 1.4e7, "tensor bf16", 18, "prefill"}};
  std::uint64_t id = 1;
  for (const auto& seed : seeds) {
    RooflinePoint point;
    point.kernel = kKernels[seed.kernel].name;
    point.stage = seed.stage;
    point.ncu_id = id++;
    point.flops = seed.flops;
    point.dram_bytes = seed.bytes;
    point.duration_ns = static_cast<Ns>(kKernels[seed.kernel].mean_ns);
    point.flops_per_s = seed.flops / kKernels[seed.kernel].mean_ns * 1e9;
    point.intensity = seed.flops / seed.bytes;
    point.precision = seed.precision;
    point.roof_flops_per_s = std::min(point.precision == "f32" ? 67e12 : 989e12, point.intensity * 4.8e12);
    point.roof_share = point.flops_per_s / *point.roof_flops_per_s;
    point.bound_by = kKernels[seed.kernel].bound_by;
    point.margin = seed.margin;
    run.roofline.points.push_back(point);
  }
  run.roofline.notes = {"2 launches without FLOP counts: add --set roofline to ncu.args"};
}

Finding finding(const char* rule, RuleScope scope, const std::string& subject, Severity severity, double confidence, const char* message) {
  Finding out;
  out.rule = rule;
  out.scope = scope;
  out.subject = subject;
  out.severity = severity;
  out.confidence = confidence;
  out.message = message;
  return out;
}

void add_findings(Run& run) {
  Finding launch = finding("launch_bound_decode", RuleScope::kStage, "decode", Severity::kHigh, 0.92,
                           "decode is launch-bound: the GPU waits for the CPU to launch the next kernel 81 % of the time.");
  launch.evidence = {
      windowed(evidence("launch-starved time is 81.3 % of decode's wall time", true, "/stages/1/budget"), 2471000000, 2505091823),
      evidence("187 launches a step, 6.1 µs each", true, "/stages/1/activity"),
      evidence("none of the kernels ran from a CUDA graph", true, "/stages/1/activity/graph_kernels"),
      evidence("the CPU's calls alone take 25 % of the wall time", false, "/stages/1/activity/launch_call_ns"),
      unknown("the CPU thread is always running")};
  launch.plain = "The GPU spends 81 % of the answer's time waiting for the program to hand it work.";
  launch.action = "Use CUDA graphs for each step of the answer.";
  launch.suggestions = {"Capture the decode step in a CUDA graph and replay it.",
                        "Compile the model (torch.compile, mode reduce-overhead) to launch fewer kernels.",
                        "Batch more sequences: the launches stay the same and each does more work."};
  launch.gain_ns = 83099000;
  launch.gain_share = 0.70;
  launch.gain_per_window_ns = 20.775e6;
  launch.gain_per_token_ns = 2.597e6;
  launch.gain_unprofiled = true;
  launch.gain_note = "assumes that all launch-starved time of decode goes away";
  Finding chain = finding("elementwise_chains", RuleScope::kStage, "decode", Severity::kMedium, 0.7,
                          "Chains of up to 7 elementwise kernels run one after another; fused, each would be one pass over memory.");
  chain.evidence = {evidence("elementwise kernels take 38 % of the kernel time", true, "/stages/1/activity/elementwise_ns")};
  chain.suggestions = {"Fuse them with torch.compile.", "Use a fused RMSNorm and rotary embedding."};
  chain.gain_ns = 2400000;
  chain.gain_share = 0.021;
  chain.gain_note = "assumes that three of four passes over memory go away";
  chain.prediction = graph_prediction("decode_step");
  chain.prediction->changes = {"--fuse elementwise"};
  chain.prediction->predicted_ns = 3.52e6;
  chain.prediction->low_ns = 3.4e6;
  chain.prediction->high_ns = 3.56e6;
  Finding head = finding("memory_bound_near_roof", RuleScope::kKernel, kKernels[7].name, Severity::kInfo, 0.8,
                         "This kernel moves data at 71 % of the memory's peak: little is left to win in it.");
  head.evidence = {evidence("DRAM throughput 71.3 %", true, "/kernels/4/ncu/0/dram_pct")};
  head.suggestions = {"Quantise the head's weights to halve its traffic.", "Leave it as it is."};
  head.gain_note = "not computed: it depends on the quantisation";
  run.findings = {launch, chain, head};
  run.abstentions = {
      abstention("pageable_copies", RuleScope::kStage, "activity.pageable_ns", "needs memory copies",
                 "nl-stage run --config deep --set nsys.trace=cuda,nvtx"),
      abstention("low_occupancy", RuleScope::kKernel, "ncu.occupancy_pct", "needs counters of the kernels by ncu or the collector",
                 "nl-stage run --config deep --set ncu.sections=Occupancy")};
}

void add_costs(Run& run) {
  run.perturbation.order = "bare nsys bare nsys bare nsys";
  StageSlowdown replayed = slowdown(PassKind::kNcu, "decode_step", {3.61e6}, {});
  replayed.note = "ncu replays kernels: its stages have no wall time";
  run.perturbation.stages = {judged(slowdown(PassKind::kNsys, "prefill", {4.41e6, 4.52e6, 4.47e6}, {4.90e6, 4.93e6, 4.92e6}), 0.101, 0.071,
                                    0.131, SlowdownVerdict::kUndecidable),
                             judged(slowdown(PassKind::kNsys, "decode_step", {3.61e6, 3.59e6, 3.66e6}, {4.24e6, 4.29e6, 4.25e6}), 0.176,
                                    0.158, 0.194, SlowdownVerdict::kOverLimit),
                             replayed};
  ClockSummary clock;
  clock.samples = 214;
  clock.power_mean_w = 182.4;
  clock.power_max_w = 301.0;
  clock.sm_clock_min_mhz = 1740;
  clock.sm_clock_median_mhz = 1980;
  clock.sm_clock_max_mhz = 1980;
  clock.temperature_max_c = 41;
  clock.throttled_share = 0.0;
  StageEnergy step;
  step.stage = "decode_step";
  step.samples = 1;
  step.note = "its windows are shorter than the sampling interval";
  run.energy.pass = "bare";
  run.energy.source = EnergySource::kCounter;
  run.energy.stages = {energy("prefill", 0.91, 0.0036, 185.0, 18), energy("decode", 5.42, 0.677, 159.1, 190), step};
  run.energy.devices = {clock};
}

void add_timeline(Run& run) {
  Timeline timeline;
  timeline.start_ns = 2471000000;
  timeline.end_ns = timeline.start_ns + 39400000;
  timeline.what = "iteration 3 of 4, the median one";
  timeline.names = {"prefill",
                    "decode",
                    "decode_step",
                    "cudaLaunchKernel",
                    "cudaStreamSynchronize",
                    kKernels[0].name,
                    kKernels[6].name,
                    kKernels[2].name,
                    "[CUDA memcpy Host-to-Device]"};
  TimelineLane outer{LaneKind::kRanges, "thread 973", {{timeline.start_ns, 4920000, 0, 1}, {timeline.start_ns + 5100000, 34090000, 1, 1}}},
      steps{LaneKind::kRanges, "thread 973", {}};
  TimelineLane api{LaneKind::kApi, "thread 973 CUDA", {}}, gpu{LaneKind::kGpu, "GPU 0 stream 7", {}};
  for (int i = 0; i < 8; ++i) steps.slices.push_back({timeline.start_ns + 5100000 + i * 4261000, 4230000, 2, 1});
  for (int i = 0; i < 300; ++i) {
    const Ns at_ns = timeline.start_ns + 90000 + i * 129000;
    const bool waits = i % 37 == 36;
    api.slices.push_back({at_ns, waits ? 110000 : 24000 + (i % 5) * 9000, waits ? 4u : 3u, waits ? 1u : 4u});
    gpu.slices.push_back(
        {at_ns + 31000, i % 11 == 0 ? 34000 : 9000 + (i % 7) * 3000, i % 50 == 0 ? 8u : 5u + static_cast<std::uint32_t>(i % 3), 1});
  }
  timeline.lanes = {outer, steps, api, gpu};
  timeline.slices_left_out = 128;
  run.timeline = std::move(timeline);
}

// The third decode step of its timeline, 40 cells of 106 µs.
MedianStep step_of_rich() {
  const double share[] = {0.10, 0.0, 0.05, 0.025, 0.80, 0.025};
  MedianStep step;
  step.stage = "decode_step";
  step.start_ns = 2471000000 + 5100000 + 2 * 4261000;
  step.wall_ns = 4240000;
  step.windows = 24;
  step.budget = budget(step.wall_ns, share);
  using enum BudgetBin;
  step.gpus = {{0, 973, {3392000, 3604000, 4028000, 4134000, 4240000}, {kLaunchStarved, kQueueWait, kCompute, kSyncBlocked, kOtherHost}}};
  step.host_end_ns = {3392000, 3604000, 4134000, 4240000};
  step.host = {Binding::kHostCode, Binding::kLaunches, Binding::kWaits, Binding::kHostCode};
  return step;
}

}  // namespace

Run rich_run() {
  Run run;
  run.run_id = "20261115-021808-llama-deep";
  run.created_at = "2026-11-15T02:18:08Z";
  run.name = "llama";
  run.mode = "deep";
  add_machine(run);
  add_stages(run);
  add_counters(run);
  add_kernels(run);
  add_operators(run);
  add_efficiency(run);
  add_findings(run);
  run.median_step = step_of_rich();
  run.what_if = sample_what_if("decode_step");
  add_costs(run);
  add_timeline(run);
  run.import_stats = {SourceFormat::kNsysSqlite,
                      "3.20.3",
                      "2025.3.1",
                      {{"CUPTI_ACTIVITY_KIND_KERNEL", 3356}, {"CUPTI_ACTIVITY_KIND_RUNTIME", 9120}, {"NVTX_EVENTS", 20}},
                      {},
                      {"GPU_METRICS"},
                      {}};
  run.provenance.tracer = Tracer::kNsys;
  run.provenance.meter = Meter::kNcu;
  run.provenance.passes = {
      {PassKind::kUnprofiled, {"python3", "hf_llm.py"}, 0, 9120000000, PassOutcome::kOk, "", {}},
      {PassKind::kNsys, {"nsys", "profile", "--trace=cuda,nvtx"}, 0, 14310000000, PassOutcome::kOk, "", {"nsys/run.nsys-rep"}},
      {PassKind::kNcu, {"ncu", "--set", "roofline"}, 0, 48100000000, PassOutcome::kOk, "", {"ncu/profile.ncu-rep"}}};
  run.provenance.adaptations = {{Code::kNote, {"--gpu-metrics-devices left out: this nsys has no such option"}}};
  run.provenance.inputs_sha256 = {{"run.sqlite", std::string(64, 'a')}};
  return run;
}

Run large_run(std::size_t kernels, std::size_t operators, std::size_t slices, std::size_t findings) {
  Run run = rich_run();
  const KernelEntry kernel = run.kernels->at(2);
  run.kernels->assign(kernels, kernel);
  for (std::size_t i = 0; i < kernels; ++i) run.kernels->at(i).name = fmt::format("{} #{}", kKernels[2].name, i);
  const OperatorEntry op = run.operators[0].entries[0];
  run.operators[0].entries.assign(operators, op);
  for (std::size_t i = 0; i < operators; ++i) run.operators[0].entries[i].name = fmt::format("aten::operator_{}", i);
  const Finding one = run.findings[0];
  run.findings.assign(findings, one);
  auto& gpu = run.timeline->lanes.back().slices;
  gpu.clear();
  const Ns step_ns = (run.timeline->end_ns - run.timeline->start_ns) / static_cast<Ns>(std::max<std::size_t>(slices, 1));
  for (std::size_t i = 0; i < slices; ++i)
    gpu.push_back({run.timeline->start_ns + static_cast<Ns>(i) * step_ns, std::max<Ns>(step_ns * 7 / 10, 1),
                   static_cast<std::uint32_t>(5 + i % 4), 1});
  return run;
}

}  // namespace nl::test
