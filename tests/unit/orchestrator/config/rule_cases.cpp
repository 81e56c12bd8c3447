#include "tests/unit/orchestrator/config/rule_cases.h"

#include "orchestrator/config/knowledge.h"

namespace nl::test {
namespace {

void picking_rows(Run& run, Ns percent) {
  kernel(run, 1).name = "void at::native::indexSelectLargeIndex<c10::BFloat16>(long)";
  kernel(run, 0).measured = {{kStep, 100 - percent, 1}};
  kernel(run, 1).measured = {{kStep, percent, 1}};
}

// Of 100 executions outside of prefill and so many in it that take so long on average.
void jitters(Run& run, Ns p99_ns, Ns prefill_mean_ns) {
  kernel(run, 0).stages = {{"decode", 9000000, 90}, {"prefill", 10 * prefill_mean_ns, 10}};
  kernel(run, 0).innermost.clear();
  kernel(run, 0).time.p99_ns = p99_ns;
}

// A product of decode that keeps the memory busy.
void reading_weights(Run& run, double dram) {
  kernel(run, 0).stages = {{"decode", kernel(run, 0).time.total_ns, 100}};
  sample_of(run, 0).values[nl::Metric::kSm] = 40;
  sample_of(run, 0).values[nl::Metric::kDram] = dram;
}

// Requests of which one part takes so much, of 1000 ns, and of which the slowest are slow by their own computing.
void serve(Run& run, ServingPart part, Ns ns) {
  Serving& serving = run.serving.emplace();
  serving.tail.judged = 100;
  serving.tail.latency_ns = 1000;
  serving.tail.causes = {{ServingPart::kDecode, 1, 500}};
  for (ServingTimes* times : {&serving.times, &serving.tail.times}) {
    (*times)[ServingPart::kDecode] = 1000 - ns;
    (*times)[part] = ns;
  }
}

#define NL_SERVING(rule, part, fires, misses) \
  {rule, "", [](Run& run) { serve(run, ServingPart::part, fires); }, [](Run& run) { serve(run, ServingPart::part, misses); }}
#define NL_HOST(rule, kind, fires, misses) \
  {rule, kStep, [](Run& run) { sampled_host(run, HostWork::kind, fires); }, [](Run& run) { sampled_host(run, HostWork::kind, misses); }}

// One number of the whole run, above and at the threshold.
#define NL_PAIR(rule, subject, what, fires, misses) {rule, subject, [](Run& run) { what = fires; }, [](Run& run) { what = misses; }}
#define NL_BIN(rule, stage_name, bin, fires, misses)                                \
  {rule, stage_name, [](Run& run) { spend(run, stage_name, &Budget::bin, fires); }, \
   [](Run& run) { spend(run, stage_name, &Budget::bin, misses); }}

const RuleCase kCases[] = {
    NL_BIN("launch_bound_decode", "decode_step", launch_starved_ns, 0.11, 0.09),
    NL_BIN("launch_bound_stage", "prefill", launch_starved_ns, 0.11, 0.09),
    NL_BIN("launch_bound_stage", "prefill", launch_latency_ns, 0.11, 0.09),
    {"small_kernel_storm", kStep, [](Run& run) { storm(run, 101, 7, 0.31); }, [](Run& run) { storm(run, 101, 7, 0.05); }},
    {"small_kernel_storm", kStep, [](Run& run) { storm(run, 101, 7); }, [](Run& run) { storm(run, 101, 6); }},
    {"graph_capture_missing", kStep, [](Run& run) { ungraphed(run, 51); }, [](Run& run) { ungraphed(run, 50); }},
    {"code_loaded_in_stage", kStep, [](Run& run) { code_loading(run, 16000000); }, [](Run& run) { code_loading(run, 14000000); }},
    {"sync_blocks_gpu", "prefill", [](Run& run) { spend(run, "prefill", &Budget::sync_blocked_ns, 0.11); },
     [](Run& run) { spend(run, "prefill", &Budget::sync_blocked_ns, 0.09); }},
    {"sync_in_step_loop", kStep, [](Run& run) { synced(run, 0.06); }, [](Run& run) { synced(run, 0.04); }},
    {"d2h_in_step_loop", kStep, [](Run& run) { to_host(run, 0.03); }, [](Run& run) { to_host(run, 0.01); }},
    {"host_gap", kStep, [](Run& run) { gap(run, 1600000); }, [](Run& run) { gap(run, 1500000); }},
    {"recurring_gap", kStep, [](Run& run) { own_gap(run, 3100000); }, [](Run& run) { own_gap(run, 3000000); }},
    NL_BIN("host_work_after_launches", "prefill", other_host_ns, 0.16, 0.14),
    NL_BIN("dependent_kernel_latency", "prefill", queue_wait_ns, 0.16, 0.14),
    NL_HOST("tokenizer_delays_gpu", kTokenizer, 11, 10),
    NL_HOST("sampling_delays_gpu", kSampling, 11, 10),
    NL_HOST("module_overhead", kModel, 31, 30),
    NL_HOST("module_overhead", kFramework, 31, 30),
    NL_HOST("data_loader_delays_gpu", kDataLoader, 11, 10),
    NL_HOST("server_delays_gpu", kServer, 11, 10),
    {"garbage_collection", kStep, [](Run& run) { garbage(run, 2100000); }, [](Run& run) { garbage(run, 2000000); }},
    {"sync_line", kStep, [](Run& run) { sync_at_line(run, 5100000); }, [](Run& run) { sync_at_line(run, 5000000); }},
    {"idle_between_stages", "", [](Run& run) { run.phases.phases.push_back({"idle", 21000000, Budget{}}); },
     [](Run& run) { run.phases.phases.push_back({"idle", 20000000, Budget{}}); }},

    NL_PAIR("h2d_dominates", "prefill", activity(run, "prefill").h2d_ns, 31000000, 30000000),
    {"pageable_copies", "prefill",
     [](Run& run) { activity(run, "prefill").pageable_copies = 1, activity(run, "prefill").pageable_ns = 1100000; },
     [](Run& run) { activity(run, "prefill").pageable_copies = 1, activity(run, "prefill").pageable_ns = 1000000; }},
    NL_BIN("exposed_copies", "prefill", exposed_copy_ns, 0.11, 0.10),
    {"kv_cache_copies", kStep, [](Run& run) { activity(run, kStep).cache_copy_ns = activity(run, kStep).copy_kernel_ns = 6000000; },
     [](Run& run) { activity(run, kStep).cache_copy_ns = activity(run, kStep).copy_kernel_ns = 5000000; }},
    {"cache_reordering", kStep, [](Run& run) { picking_rows(run, 6); }, [](Run& run) { picking_rows(run, 5); }},
    NL_PAIR("copy_kernels", "prefill", activity(run, "prefill").copy_kernel_ns, 16000000, 15000000),
    {"many_memsets", "prefill", [](Run& run) { activity(run, "prefill").memsets = 102, activity(run, "prefill").memset_ns = 600000; },
     [](Run& run) { activity(run, "prefill").memsets = 100, activity(run, "prefill").memset_ns = 600000; }},

    {"low_occupancy", kMap,
     [](Run& run) { sample_of(run, 1).values[nl::Metric::kOccupancy] = 24, sample_of(run, 1).values[nl::Metric::kSm] = 59; },
     [](Run& run) { sample_of(run, 1).values[nl::Metric::kOccupancy] = 24, sample_of(run, 1).values[nl::Metric::kSm] = 60; }},
    NL_PAIR("gemm_low_tensor_use", kGemm, sample_of(run, 0).values[nl::Metric::kTensor], 29, 30),
    {"weights_bound_gemm", kGemm, [](Run& run) { reading_weights(run, 61); }, [](Run& run) { reading_weights(run, 60); }},
    NL_PAIR("memory_bound_near_roof", kFlash, sample_of(run, 2).values[nl::Metric::kDram], 75, 74),
    {"memory_bound_far_from_roof", kMap,
     [](Run& run) { sample_of(run, 1).values[nl::Metric::kSm] = 40, sample_of(run, 1).values[nl::Metric::kDram] = 59; },
     [](Run& run) { sample_of(run, 1).values[nl::Metric::kSm] = 40, sample_of(run, 1).values[nl::Metric::kDram] = 60; }},
    NL_PAIR("latency_bound_kernel", kFlash, sample_of(run, 2).bound_by, nl::Bound::kLatency, nl::Bound::kMemory),
    NL_PAIR("grid_too_small", kFlash, sample_of(run, 2).grid, (Dim3{65, 1, 1}), (Dim3{66, 1, 1})),
    {"gemm_without_tensor_cores", "ampere_sgemm_128x64_tn", [](Run& run) { kernel(run, 0).name = "ampere_sgemm_128x64_tn"; },
     [](Run& run) { kernel(run, 0).name = "ampere_bf16_s16816gemm_128x64_tn"; }},
    {"poor_l2_locality", kGemm, [](Run& run) { refetched(run, 3.1); }, [](Run& run) { refetched(run, 3); }},
    NL_PAIR("kernel_dominates", kGemm, kernel(run, 0).gpu_share, 0.36, 0.35),
    {"kernel_jitter", kGemm, [](Run& run) { jitters(run, 300001, 100000); }, [](Run& run) { jitters(run, 300000, 100000); }},
    // Executions of a prompt take longer than those of a token.
    {"kernel_jitter", kGemm, [](Run& run) { jitters(run, 400001, 200000); }, [](Run& run) { jitters(run, 400000, 200000); }},
    {"sync_operators", "aten::item",
     [](Run& run) { run.operators[0].entries[1].calls = 11, run.operators[0].entries[1].total_ns = 2100000; },
     [](Run& run) { run.operators[0].entries[1].calls = 10, run.operators[0].entries[1].total_ns = 2100000; }},
    NL_PAIR("copy_operators", "aten::cat", run.operators[0].entries[2].cuda_self_ns, 11000000, 10000000),

    {"cpu_fallback", "NonZero", [](Run& run) { add_nodes({matmul("/m", 980, kCuda), falling_back(20)}, run); },
     [](Run& run) { add_nodes({matmul("/m", 990, kCuda), falling_back(10)}, run); }},
    {"provider_copies", "MemcpyToHost", [](Run& run) { add_nodes({matmul("/m", 980, kCuda), copying(20)}, run); },
     [](Run& run) { add_nodes({matmul("/m", 990, kCuda), copying(10)}, run); }},
    {"cast_chain", "Cast", [](Run& run) { add_nodes({matmul("/m", 980), casting(10), casting(10)}, run); },
     [](Run& run) { add_nodes({casting(10), matmul("/m", 980), casting(10)}, run); }},
    {"transpose_chain", "Transpose", [](Run& run) { add_nodes({matmul("/m", 940), transposing(60), reshaping()}, run); },
     [](Run& run) { add_nodes({matmul("/m", 950), transposing(50), reshaping()}, run); }},
    {"operator_dominates", "MatMul", [](Run& run) { product_among(run, 101, 4); }, [](Run& run) { product_among(run, 100, 4); }},
    {"node_dominates", "MatMul", [](Run& run) { product_among(run, 45, 10); }, [](Run& run) { product_among(run, 42, 10); }},
    {"time_between_nodes", "", [](Run& run) { add_nodes({matmul("/m", 940)}, run, 1000); },
     [](Run& run) { add_nodes({matmul("/m", 950)}, run, 1000); }},
    {"single_thread", "", [](Run& run) { add_nodes({matmul("/m", 31), casting(69)}, run).threads = 1; },
     [](Run& run) { add_nodes({matmul("/m", 30), casting(70)}, run).threads = 1; }},
    {"idle_threads", "",
     [](Run& run) {
       OperatorStep& step = add_nodes({matmul("/m", 31)}, run);
       step.threads = 4, step.idle_threads = 1;
     },
     [](Run& run) {
       OperatorStep& step = add_nodes({matmul("/m", 31)}, run);
       step.threads = 4, step.idle_threads = 0;
     }},

    NL_PAIR("prefill_low_mfu", "prefill", efficiency(run, "prefill").mfu, 0.29, 0.30),
    {"prefill_memory_limited", "prefill", [](Run& run) { efficiency(run, "prefill").limit = nl::Bound::kMemory; },
     [](Run& run) { efficiency(run, "prefill").limit = nl::Bound::kMemory, efficiency(run, "prefill").mbu = 0.6; }},
    NL_PAIR("decode_low_mbu", kStep, efficiency(run, kStep).mbu, 0.39, 0.40),
    NL_PAIR("weights_bound_decode", kStep, efficiency(run, kStep).mbu_busy, 0.66, 0.65),
    NL_PAIR("batch_too_small", kStep, stage(run, kStep).tokens_per_window, 4, 5),
    NL_PAIR("step_jitter", kStep, stage(run, kStep).wall.p95_ns, 7500001, 7500000),
    NL_PAIR("slow_first_iteration", "", run.iterations.list[0].wall_ns, 151000000, 150000000),
    NL_PAIR("slow_first_step", kStep, stage(run, kStep).first_in_iteration_ns, 7600000, 7500000),
    {"stage_without_gpu_work", "prefill", [](Run& run) { spend(run, "prefill", &Budget::other_host_ns, 1); },
     [](Run& run) { spend(run, "prefill", &Budget::other_host_ns, 0.99); }},
    NL_PAIR("attention_dominates_prefill", "prefill", activity(run, "prefill").attention_ns, 41000000, 40000000),
    {"moe_small_gemms", kStep, [](Run& run) { experts(run, 301); }, [](Run& run) { experts(run, 300); }},
    {"elementwise_chains", "prefill",
     [](Run& run) { activity(run, "prefill").elementwise_ns = 16000000, activity(run, "prefill").longest_elementwise_chain = 3; },
     [](Run& run) { activity(run, "prefill").elementwise_ns = 16000000, activity(run, "prefill").longest_elementwise_chain = 2; }},
    {"device_imbalance", "prefill",
     [](Run& run) { stage(run, "prefill").devices = {computing(0, 40, 1), computing(0, 39, 2), computing(1, 100, 3)}; },
     [](Run& run) { stage(run, "prefill").devices = {computing(0, 40, 1), computing(0, 100, 2)}; }},  // two processes share one GPU
    {"device_imbalance", "prefill", [](Run& run) { stage(run, "prefill").devices = {computing(0, 79), computing(1, 100)}; },
     [](Run& run) { stage(run, "prefill").devices = {computing(0, 80), computing(1, 100)}; }},
    // A rank with a window more has as much to do, and a GPU that waits in its collectives is busy.
    {"device_imbalance", "prefill", [](Run& run) { stage(run, "prefill").devices = {computing(0, 390, 1, 5), computing(1, 400, 2, 4)}; },
     [](Run& run) { stage(run, "prefill").devices = {computing(0, 500, 1, 5), computing(1, 400, 2, 4)}; }},
    {"device_imbalance", "prefill", [](Run& run) { stage(run, "prefill").devices = {computing(0, 70), computing(1, 100)}; },
     [](Run& run) {
       stage(run, "prefill").devices = {computing(0, 70), computing(1, 100)};
       ranks(run, 0.5, 3100000, 0.2);  // uneven_compute has it
     }},
    // One that has too little to do is no other's fault.
    {"device_imbalance", "prefill",
     [](Run& run) {
       stage(run, "prefill").devices = {computing(0, 10), computing(1, 100), computing(2, 100)};
       ranks(run, 0.5, 3100000, 0.43);
     },
     [](Run& run) {
       stage(run, "prefill").devices = {computing(0, 10), computing(1, 100), computing(2, 100)};
       ranks(run, 0.5, 3100000, 0.46);
     }},

    NL_BIN("exposed_communication", "prefill", communication_ns, 0.11, 0.10),
    {"straggler_rank", "prefill", [](Run& run) { ranks(run, 0.71, 4000000); }, [](Run& run) { ranks(run, 0.70, 4000000); }},
    {"ranks_out_of_step", "prefill", [](Run& run) { ranks(run, 0.5, 3100000); }, [](Run& run) { ranks(run, 0.5, 3000000); }},
    {"late_once", "prefill", [](Run& run) { late_in_steps(run, 620000, 95000); }, [](Run& run) { late_in_steps(run, 600000, 100000); }},
    {"straggler_rank", "prefill", [](Run& run) { late_in_steps(run, 600000, 100000); },
     [](Run& run) { late_in_steps(run, 620000, 95000); }},
    // The steps of the ranks may be those of another stage, of which this one is a part.
    {"late_once", "prefill", [](Run& run) { late_in_steps(run, 620000, 95000), run.rank_matrix.stage = "request"; },
     [](Run& run) { late_in_steps(run, 600000, 100000), run.rank_matrix.stage = "request"; }},
    {"pipeline_bubble", "prefill", [](Run& run) { pipeline(run, 0.22); }, [](Run& run) { pipeline(run, 0.20); }},
    // Where half of the waiting is a pipeline's, it is no rank's fault.
    {"straggler_rank", "prefill", [](Run& run) { ranks(run, 0.71, 4000000), pipeline(run, 0.04); },
     [](Run& run) { ranks(run, 0.71, 4000000), pipeline(run, 0.05); }},
    {"ranks_out_of_step", "prefill", [](Run& run) { ranks(run, 0.5, 4000000), pipeline(run, 0.04); },
     [](Run& run) { ranks(run, 0.5, 4000000), pipeline(run, 0.05); }},
    {"uneven_compute", "prefill", [](Run& run) { ranks(run, 0.5, 0, 0.11), spend(run, "prefill", &Budget::communication_ns, 0.04); },
     [](Run& run) { ranks(run, 0.5, 0, 0.10), spend(run, "prefill", &Budget::communication_ns, 0.04); }},
    {"expert_imbalance", "prefill", [](Run& run) { busy_experts(run, 31000); }, [](Run& run) { busy_experts(run, 30000); }},
    // What expert_imbalance says is not said again.
    {"straggler_rank", "prefill", [](Run& run) { late_in_steps(run, 600000, 100000), busy_experts(run, 30000); },
     [](Run& run) { late_in_steps(run, 600000, 100000), busy_experts(run, 31000); }},
    {"ranks_out_of_step", "prefill", [](Run& run) { ranks(run, 0.5, 4000000), busy_experts(run, 30000); },
     [](Run& run) { ranks(run, 0.5, 4000000), busy_experts(run, 31000); }},
    {"uneven_compute", "prefill",
     [](Run& run) { ranks(run, 0.5, 0, 0.11), spend(run, "prefill", &Budget::communication_ns, 0.04), busy_experts(run, 50000); },
     [](Run& run) { ranks(run, 0.5, 0, 0.11), spend(run, "prefill", &Budget::communication_ns, 0.04), busy_experts(run, 60000); }},
    {"rank_never_came", "", [](Run& run) { hung(run, {AbsentRank{1, "save_checkpoint", true, 5}}); }, [](Run& run) { hung(run, {}); }},
    {"communication_in_capture", "", [](Run& run) { talking_capture(run, 51); }, [](Run& run) { talking_capture(run, 50); }},

    {"workload_failed", "", [](Run& run) { ended_badly(run, Code::kWorkloadOutOfMemory); },
     [](Run& run) { ended_badly(run, Code::kCountersPartly); }},
    {"profiler_perturbation", "prefill",
     [](Run& run) { run.perturbation.stages[0].slowdown = 0.10, run.perturbation.stages[0].low = 0.06; },
     // Slower, but it may be chance.
     [](Run& run) { run.perturbation.stages[0].slowdown = 0.10, run.perturbation.stages[0].low = 0.05; }},
    {"profiler_perturbation_undecided", "prefill",
     [](Run& run) { run.perturbation.stages[0].slowdown = 0.10, run.perturbation.stages[0].low = 0.05; },
     [](Run& run) { run.perturbation.stages[0].slowdown = 0.05, run.perturbation.stages[0].low = 0.01; }},
    {"clock_throttling", "", [](Run& run) { clocks(run, 0.06, "thermal slowdown by the driver"); },
     [](Run& run) { clocks(run, 0.06, "power cap"); }},
    {"power_capped", "", [](Run& run) { clocks(run, 0.21, "power cap"); }, [](Run& run) { clocks(run, 0.20, "power cap"); }},
    {"gpu_outside_stages", "", [](Run& run) { run.phases.gpu_without_range_share = 0.11, run.coverage.in_stage_share = 0.89; },
     [](Run& run) { run.phases.gpu_without_range_share = 0.11, run.coverage.in_stage_share = 0.90; }},
    NL_SERVING("slow_requests_interference", kInterference, 160, 150),
    NL_SERVING("slow_requests_queue", kQueue, 260, 250),
    NL_SERVING("slow_requests_preemption", kPreemption, 60, 50),
    NL_SERVING("slow_requests_between_steps", kBetweenSteps, 160, 150),
    NL_SERVING("slow_requests_detokenising", kDetokenising, 110, 100),
    NL_PAIR("unlinked_kernels", "", run.coverage.unlinked_share, 0.06, 0.05),
    NL_PAIR("graph_traced_without_nodes", "", run.coverage.graph_only_share, 0.06, 0.05),
    NL_PAIR("damaged_capture", "", run.import_stats.rows_damaged[Remark{Code::kEndsBeforeStart}], 101, 100),
};

}  // namespace

std::span<const RuleCase> rule_cases() { return kCases; }

const Rules& shipped() {
  static const Rules rules = orchestrator::load_rules(orchestrator::shipped_rules(), {});
  return rules;
}

const analysis::ParsedRules& parsed_shipped() {
  static const analysis::ParsedRules rules(shipped());
  return rules;
}

const Finding* find(const Run& run, std::string_view rule, std::string_view subject) {
  for (const Finding& finding : run.findings)
    if (finding.rule == rule && finding.subject == subject) return &finding;
  return nullptr;
}

std::string rules_of(const Run& run) {
  std::string names;
  for (const Finding& finding : run.findings) names += finding.rule + " (" + finding.subject + ") ";
  return names;
}

void ended_badly(Run& run, Code code) {
  run.problems.push_back(
      {code, "serve ran out of GPU memory, at w.py:3.", "logs/nsys.stderr.log", "Let it need less.", ErrorKind::kWorkload});
}

std::string advice_of(const Finding& finding) {
  std::string advice = finding.plain + "\n" + finding.action;
  for (const std::string& suggestion : finding.suggestions) advice += "\n" + suggestion;
  return advice;
}

}  // namespace nl::test
